/**
 * The one transaction that ends a run: run row, transcript, decisions, turn, deliveries, event, in this order. Its owner writes it, or
 * recovery in the owner's place.
 */
import { AppError } from '../../../shared/errors.ts'
import type { Actor, Answer, RunState } from '../../../shared/vocabulary.ts'
import { planEnd } from '../deliveries/terminal.ts'
import type { CapabilityOf } from '../deliveries/terminal.ts'
import type { Emit, EventDraft } from '../events/draft.ts'
import type { Tables } from '../store/index.ts'
import type { PreparedEnd } from '../store/runs.ts'
import type { NewEntry } from '../store/transcript.ts'

/** What a permission that nobody answered comes to. */
export const UNANSWERED: Answer = { option: 'reject_once' }

export interface TerminalWrite {
  runId: string
  sessionId: string
  end: PreparedEnd
  from: readonly RunState[]
  event: 'run_finished' | 'run_recovered'
  /** Who settles the decisions that are still open. */
  by: Actor
  at: number
  capabilityOf: CapabilityOf
  failpoint: (name: string) => void
}

/**
 * Answers the decisions that it settled. A run that had ended so before is left as it is: an earlier try was committed and
 * its answer lost.
 * @throws AppError `run_terminal_conflict`: it ended in another way.
 */
export function writeTerminal(tables: Tables, emit: Emit, write: TerminalWrite): string[] {
  const { runId, sessionId, end, from, at, failpoint } = write
  const run = tables.runs.get(runId)
  if (run === null) throw new AppError('run_not_found', 'This run no longer exists.', { detail: runId })
  if (!tables.runs.end(runId, end, from, at)) {
    if (run.state === end.state) return []
    throw new AppError('run_terminal_conflict', 'This run has ended in another way already.', {
      detail: `${run.state}, not ${end.state}`,
    })
  }
  failpoint('terminal.after_run_row')

  const turn = tables.transcript.turnOfRun(runId)
  let entryId: string | null = null
  let endSeq = 0
  if (turn?.open === true) {
    const entries = entriesOf(end)
    const written = tables.transcript.append({ sessionId, turnId: turn.id, runId }, entries, at)
    entryId = written[entries.findIndex(({ kind }) => kind === 'assistant')]?.id ?? null
    endSeq = written.at(-1)?.seq ?? 0
  }
  failpoint('terminal.after_entry')

  const open = tables.decisions.pendingIds(runId)
  for (const id of open) {
    tables.decisions.settle(id, { status: 'cancelled', answer: UNANSWERED, by: write.by }, at)
  }
  failpoint('terminal.after_decisions')

  if (turn?.open === true) tables.transcript.closeTurn(turn.id, end.state, endSeq, at)
  tables.sessions.touch(sessionId, at)
  failpoint('terminal.after_turn')

  // A maintenance run has no turn, and nothing of it is delivered.
  const planned = turn?.open === true ? planEnd(tables, { ...write, reopened: run.reopenCount > 0 }) : []
  failpoint('terminal.after_delivery')

  emit(
    ...open.map((id): EventDraft => ({
      runId,
      type: 'decision_resolved',
      data: { decisionId: id, status: 'cancelled', answer: UNANSWERED, by: write.by },
      dedupeKey: `settled:${id}`,
    })),
    ...planned,
    {
      runId,
      type: write.event,
      state: end.state,
      data: {
        state: end.state,
        entryId,
        stopReason: end.stopReason,
        error: end.error,
        sideEffects: end.sideEffects,
        partialOutput: end.partialOutput,
      },
      dedupeKey: `end:${runId}:${run.reopenCount}`,
    },
  )
  failpoint('terminal.after_event')
  return open
}

function entriesOf(end: PreparedEnd): NewEntry[] {
  return [
    ...end.tools.map((tool): NewEntry => ({ kind: 'tool', body: tool })),
    ...(end.assistant === null ? [] : [{ kind: 'assistant' as const, body: { text: end.assistant.text } }]),
    { kind: 'turn_end', body: { state: end.state, stopReason: end.stopReason } },
  ]
}
