/** A turn as a window shows it where its events are not kept: by what the transcript says of it. */
import { z } from 'zod'
import { InputFacts } from '../../../shared/events.ts'
import { emptyRun } from '../../../shared/projection/index.ts'
import type { RunView, TranscriptItem } from '../../../shared/projection/index.ts'
import { ToolKind, ToolStatus } from '../../../shared/vocabulary.ts'
import { readJson } from '../store/json.ts'
import type { EntryRow, TurnRow } from '../store/transcript.ts'

const Body = z.looseObject({
  text: z.string().default(''),
  steered: z.boolean().optional(),
  inputs: z.array(InputFacts).default([]),
  attempt: z.number().optional(),
  stopReason: z.string().nullish(),
})
const ToolBody = z.looseObject({
  toolCallId: z.string(),
  tool: ToolKind,
  name: z.string().nullable(),
  title: z.string(),
  status: ToolStatus,
  paths: z.array(z.string()),
  text: z.string().default(''),
})

export function readTurn(turn: TurnRow, entries: readonly EntryRow[]): RunView {
  const view: RunView = {
    ...emptyRun(turn.id),
    turnId: turn.id,
    intentId: turn.intentId ?? '',
    state: turn.status === 'open' ? 'running' : turn.status,
    createdAt: turn.startedAt,
    startedAt: turn.startedAt,
    finishedAt: turn.endedAt,
  }
  for (const entry of entries) {
    if (entry.kind === 'tool') {
      view.items.push(toolItem(entry))
      continue
    }
    const body = readJson(Body, entry.body, `entries.body of ${entry.id}`)
    const said = { seq: entry.seq, text: body.text, at: entry.createdAt }
    if (entry.kind === 'turn_start') view.attempt = body.attempt ?? 1
    else if (entry.kind === 'turn_end') view.stopReason = body.stopReason ?? null
    else if (entry.kind === 'user' && body.steered === true) view.items.push({ kind: 'steer', ...said })
    else if (entry.kind === 'user') Object.assign(view, { prompt: body.text, inputs: body.inputs })
    else if (entry.kind === 'assistant') view.items.push({ kind: 'text', messageId: entry.id, ...said })
  }
  return view
}

function toolItem(entry: EntryRow): TranscriptItem {
  const { toolCallId, tool, name, title, status, paths, text } = readJson(
    ToolBody,
    entry.body,
    `entries.body of ${entry.id}`,
  )
  return {
    kind: 'tool',
    seq: entry.seq,
    toolCallId,
    tool,
    name,
    title,
    status,
    paths,
    content: text === '' ? [] : [{ type: 'text', text }],
    allowedBy: null,
    startedAt: entry.createdAt,
    finishedAt: entry.createdAt,
  }
}
