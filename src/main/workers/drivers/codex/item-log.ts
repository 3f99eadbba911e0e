/**
 * The items of a thread as they come, told on as content. Remembers what a later message only points at: the changes of
 * a patch that is asked about, the call of an MCP tool, the turn of a command that runs on.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../../platform/types.ts'
import { keepNewest } from '../shared/keep-newest.ts'
import { createNewest } from '../shared/newest.ts'
import { titleSource } from '../shared/title-line.ts'
import type { Conversation } from '../shared/types.ts'
import type { Redactor } from '../../types.ts'
import type { FileChange } from './file-change.ts'
import { outputContent, toolView } from './items.ts'
import type { ToolItem, ToolView } from './items.ts'
import type { ThreadFamily } from './thread-family.ts'
import { readDelta, readItem } from './wire.ts'
import type { Delta, Item, ItemNote } from './wire.ts'

/** Output of a running command is shown again at most this often. */
const OUTPUT_EVERY_MS = 250
/** Of what was not shown yet: its first is, at once. */
const LONG_AGO_MS = -OUTPUT_EVERY_MS
/** Of a running command's output the newest is kept; the finished item brings all of it. */
const OUTPUT_CHARS = 65_536

type AskedItem = Extract<ToolItem, { type: 'fileChange' | 'mcpToolCall' }>

interface Known {
  id: string
  /** What a question about it, until it ends, only points at. */
  item: AskedItem | null
  /** What is remembered of a call's title is no more than is shown of it. */
  view: ToolView
  turnId: string
  threadId: string
  /** What it printed so far; null: nothing. */
  output: { shown: string; stream: ReturnType<Redactor['stream']> } | null
  outputShownAtMs: number
  /** An MCP call that a question was matched with already. */
  wasAsked: boolean
}

export interface ItemLog {
  started(params: unknown): void
  completed(params: unknown): void
  agentText(params: unknown): void
  thought(params: unknown): void
  output(params: unknown): void
  /** A person allowed this call: it runs from now on. */
  allowed(itemId: string): void
  /** The changes of a patch that waits for its answer; null: it is not known. */
  changesOf(itemId: string): readonly FileChange[] | null
  /** The oldest call of this tool with these arguments that nobody asked about yet. */
  takeMcpCall(server: string, tool: string, args: unknown): string | null
  turnOf(itemId: string): string | null
}

export interface ItemLogParts {
  conversation: Conversation
  clock: Clock
  family: ThreadFamily
  /** The turn that the session knows: content of any other is late. */
  isCurrent(turnId: string): boolean
}

export function createItemLog({ conversation, clock, family, isCurrent }: ItemLogParts): ItemLog {
  const known = createNewest<Known>({ count: conversation.limits.toolCalls })
  /** Messages whose text came in deltas, so that the finished item does not repeat it. */
  const streamed = new Set<string>()
  const forgetStreamed = keepNewest(streamed, conversation.limits.toolCalls)

  function ourItem(params: unknown): ItemNote | null {
    const note = readItem(params)
    return note !== null && family.has(note.threadId) ? note : null
  }

  function viewOf(item: ToolItem, finished: boolean): ToolView {
    const view = toolView(item, finished)
    view.title = titleSource(view.title)
    return view
  }

  function remember(entry: Known): Known {
    known.set(entry.id, entry)
    return entry
  }

  /** A sub-agent has turns of its own; it works as long as ours runs. */
  function isRunning({ threadId, turnId }: Known): boolean {
    return threadId === family.own ? isCurrent(turnId) : conversation.turn !== null
  }

  function show(entry: Known, phase: 'started' | 'updated' | 'finished'): void {
    if (!isRunning(entry)) return
    const { tool, name, title, status, paths, content } = entry.view
    conversation.content({
      kind: 'tool',
      toolCallId: entry.id,
      phase,
      tool,
      name,
      title,
      status,
      paths,
      content,
    })
  }

  function text(
    role: 'agent' | 'thought',
    messageId: string,
    { threadId, turnId, delta }: Omit<Delta, 'itemId'>,
  ): void {
    // What sub-agents say is said to the agent, which gets it as their result.
    if (threadId === family.own && isCurrent(turnId) && delta !== '') {
      conversation.content({ kind: 'text', role, messageId, text: delta })
    }
  }

  function completedText(found: { threadId: string; turnId: string; item: Item }): void {
    const { item } = found
    if (streamed.delete(item.id)) return
    if (item.type === 'agentMessage' || item.type === 'plan') text('agent', item.id, { ...found, delta: item.text })
    if (item.type === 'reasoning') text('thought', item.id, { ...found, delta: item.summary.join('\n\n') })
  }

  function delta(role: 'agent' | 'thought', params: unknown): void {
    const found = readDelta(params)
    if (found === null) return
    streamed.add(found.itemId)
    forgetStreamed()
    text(role, found.itemId, found)
  }

  return {
    started(params) {
      const found = ourItem(params)
      if (found === null) return
      const { item, threadId, turnId } = found
      if (item.type === 'agentMessage' || item.type === 'plan' || item.type === 'reasoning') return
      const entry: Known = {
        id: item.id,
        item: asked(item),
        view: viewOf(item, false),
        turnId,
        threadId,
        output: null,
        outputShownAtMs: LONG_AGO_MS,
        wasAsked: false,
      }
      show(remember(entry), 'started')
    },
    completed(params) {
      const found = ourItem(params)
      if (found === null) return
      const { item, threadId, turnId } = found
      if (item.type === 'agentMessage' || item.type === 'plan' || item.type === 'reasoning') return completedText(found)
      const view = viewOf(item, true)
      const before = known.get(item.id)
      const parts = { id: item.id, item: null, view, turnId, threadId }
      const entry: Known = { ...parts, output: null, outputShownAtMs: LONG_AGO_MS, wasAsked: before?.wasAsked ?? false }
      if (view.status === 'declined' && isRunning(entry)) conversation.refused(item.id, view.name, view.tool)
      if (item.type === 'collabAgentToolCall') item.receiverThreadIds.forEach(family.add)
      if (before === undefined) show(entry, 'started')
      show(remember(entry), 'finished')
      // Whatever it came to is told, and may be long.
      entry.view = { ...view, content: [] }
    },
    agentText: (params) => delta('agent', params),
    thought: (params) => delta('thought', params),
    output(params) {
      const found = readDelta(params)
      const entry = found === null ? undefined : known.get(found.itemId)
      if (found === null || entry === undefined) return
      // Redacted first, cut after: half a secret never survives.
      entry.output ??= { shown: '', stream: conversation.redactor.stream() }
      entry.output.shown = (entry.output.shown + entry.output.stream.push(found.delta)).slice(-OUTPUT_CHARS)
      const now = clock.monotonicMs()
      if (now - entry.outputShownAtMs < OUTPUT_EVERY_MS) return
      entry.outputShownAtMs = now
      entry.view = { ...entry.view, status: 'in_progress', content: outputContent(entry.output.shown, null) }
      show(entry, 'updated')
    },
    allowed(itemId) {
      const entry = known.get(itemId)
      if (entry === undefined || entry.view.status !== 'pending') return
      entry.view = { ...entry.view, status: 'in_progress' }
      show(entry, 'updated')
    },
    changesOf(itemId) {
      const item = known.get(itemId)?.item
      return item?.type === 'fileChange' ? item.changes : null
    },
    takeMcpCall(server, tool, args) {
      for (const entry of known.values()) {
        const { item } = entry
        if (item?.type !== 'mcpToolCall' || entry.wasAsked || item.status !== 'inProgress') continue
        if (item.server !== server || item.tool !== tool || !isDeepStrictEqual(item.arguments ?? null, args ?? null)) {
          continue
        }
        entry.wasAsked = true
        return item.id
      }
      return null
    },
    turnOf: (itemId) => known.get(itemId)?.turnId ?? null,
  }
}

function asked(item: ToolItem): AskedItem | null {
  return item.type === 'fileChange' || item.type === 'mcpToolCall' ? item : null
}
