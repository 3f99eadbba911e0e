import { AppError } from '../../../shared/errors.ts'
import { projectRun, RunViewSchema } from '../../../shared/projection/index.ts'
import type { RunView, TranscriptItem } from '../../../shared/projection/index.ts'
import { isTerminal } from '../../../shared/vocabulary.ts'
import type { RuntimeContext } from '../context.ts'
import { readJson } from '../store/json.ts'
import type { TurnRow } from '../store/transcript.ts'
import { readTurn } from './turn-view.ts'
import type { DecisionRow, DraftRow, RunRow, SessionRow } from '../types.ts'

const MAX_BYTES = 1024 * 1024
const MAX_TURNS = 50
/** A single turn leaves room for the rest. */
const TURN_BYTES = 700 * 1024
/** A run that is asked for alone, within what one answer of the bridge carries. */
const VIEW_BYTES = 3 * 1024 * 1024

export interface SessionSnapshot {
  session: SessionRow
  /** Oldest first. */
  turns: RunView[]
  hasEarlier: boolean
  headSeq: number
  floorSeq: number
  pending: DecisionRow[]
  draft: DraftRow | null
}

export interface Snapshots {
  /**
   * The newest turns before `beforeTurn` (the `runId` of a view), of at most 1 MiB together. A window goes on from `headSeq`.
   * A turn whose run is not kept, or was another session's, is told by its transcript alone; its `runId` is the turn's id.
   * @throws AppError `session_not_found`, `run_not_found`.
   */
  of(query: { sessionId: string; beforeTurn?: string; limit?: number }): SessionSnapshot
  /** @throws AppError `run_not_found`. */
  view(runId: string): { sessionId: string; run: RunView }
}

/** A run that has ended is worked out from its events once, and kept. */
export function createSnapshots({ store, tables, log }: RuntimeContext): Snapshots {
  function viewOf(run: RunRow): RunView {
    const kept = isTerminal(run.state) ? readKept(run.id) : null
    if (kept !== null) return kept
    const view = projectRun(run.id, tables.events.ofRun(run.id))
    if (isTerminal(run.state)) void keep(run.id, view)
    return view
  }

  /** Null: none was kept, or it cannot be read. The log has it all. */
  function readKept(runId: string): RunView | null {
    const kept = tables.records.view(runId)
    try {
      return kept === null ? null : readJson(RunViewSchema, kept.view, `run_views.view of ${runId}`)
    } catch (error) {
      log.warn('A finished view that was kept cannot be read, and is worked out anew.', { error, runId })
      return null
    }
  }

  async function keep(runId: string, view: RunView): Promise<void> {
    // A snapshot is one read, and nothing can be written within it: this waits until it is over.
    await Promise.resolve()
    try {
      await store.writeTx(() => {
        if (tables.runs.get(runId) !== null) tables.records.putView(runId, view.lastSeq, JSON.stringify(view))
      })
    } catch (error) {
      log.warn('A finished view could not be kept.', { error, runId })
    }
  }

  function find(runId: string): RunRow {
    const run = tables.runs.get(runId)
    if (run === null) throw new AppError('run_not_found', 'This run no longer exists.', { detail: runId })
    return run
  }

  function findTurn(sessionId: string, id: string): TurnRow {
    const turn = tables.transcript.turn(sessionId, id)
    if (turn === null) throw new AppError('run_not_found', 'This turn no longer exists.', { detail: id })
    return turn
  }

  return {
    of({ sessionId, beforeTurn, limit = 20 }) {
      const read = store.db.transaction(() => {
        const session = tables.sessions.get(sessionId)
        if (session === null) {
          throw new AppError('session_not_found', 'This session no longer exists.', { detail: sessionId })
        }
        const from = beforeTurn === undefined ? null : findTurn(sessionId, beforeTurn).startSeq
        const wanted = Math.min(MAX_TURNS, Math.max(1, limit))
        const rows = tables.transcript.turns({ sessionId, before: from, limit: wanted + 1 })
        const pending = tables.decisions.pending(sessionId)
        const draft = tables.drafts.get(sessionId)
        let left = MAX_BYTES - JSON.stringify({ session, pending, draft }).length
        const turns: RunView[] = []
        for (const row of rows.slice(0, wanted)) {
          const run = row.runId === null ? null : tables.runs.get(row.runId)
          const view = run === null ? readTurn(row, tables.transcript.entriesOf(row.id)) : viewOf(run)
          const turn = fitTurn(view)
          left -= Buffer.byteLength(JSON.stringify(turn))
          if (left < 0 && turns.length > 0) break
          turns.unshift(turn)
        }
        const hasEarlier = turns.length < rows.length
        return { session, turns, hasEarlier, headSeq: session.headSeq, floorSeq: session.floorSeq, pending, draft }
      })
      return read()
    },
    view(runId) {
      const run = find(runId)
      return { sessionId: run.sessionId, run: fitTurn(viewOf(run), VIEW_BYTES) }
    },
  }
}

/** A turn that is too long for one answer keeps its end; the log has all of it. */
function fitTurn(view: RunView, maxBytes = TURN_BYTES): RunView {
  const items = view.items.map((item) => fitItem(item, maxBytes))
  let bytes = 0
  let first = items.length
  while (first > 0) {
    bytes += bytesOf(items[first - 1])
    if (bytes > maxBytes && first < items.length) break
    first--
  }
  if (first === 0) return { ...view, items }
  const message = `${first} earlier steps of this turn are not shown.`
  return { ...view, items: [notice(view, message), ...items.slice(first)] }
}

/** One message may be longer than any answer: without this, its session could never be opened again. */
function fitItem(item: TranscriptItem, maxBytes: number): TranscriptItem {
  if ((item.kind !== 'text' && item.kind !== 'thought') || item.text.length <= maxBytes / LONGEST_LETTER) return item
  const room = maxBytes / 2
  let { text } = item
  while (bytesOf(text) > room)
    text = text.slice(Math.min(text.length - 1, Math.ceil(text.length * (1 - room / bytesOf(text)))))
  if (text.length === item.text.length) return item
  // Not in the middle of a letter of two units.
  const whole = /^[\udc00-\udfff]/.test(text) ? text.slice(1) : text
  return { ...item, text: `[${item.text.length - whole.length} earlier characters are not shown.]\n\n${whole}` }
}

/** A control character stands as six bytes in JSON. */
const LONGEST_LETTER = 6

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

function notice(view: RunView, message: string): TranscriptItem {
  return { kind: 'notice', seq: view.firstSeq, code: 'earlier_steps', message, level: 'info', at: view.createdAt }
}
