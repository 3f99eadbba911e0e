import { AppError } from '../../../shared/errors.ts'
import type { RunView } from '../../../shared/projection/index.ts'
import { createPace } from '../../platform/index.ts'
import type { RuntimeContext } from '../context.ts'
import type { TurnRow } from '../store/transcript.ts'
import { bytesOf, fitTurn } from './fit-turn.ts'
import type { RunViews } from './run-views.ts'
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
   * The newest turns before `beforeTurn` (the `runId` of a view), of at most 1 MiB together. A window goes on from `headSeq`;
   * a run under way may be told a little further, and what it hears twice changes nothing.
   * A turn whose run is not kept, or was another session's, is told by its transcript alone; its `runId` is the turn's id.
   * @throws AppError `session_not_found`, `run_not_found`.
   */
  of(query: { sessionId: string; beforeTurn?: string; limit?: number }): Promise<SessionSnapshot>
  /** @throws AppError `run_not_found`. */
  view(runId: string): Promise<{ sessionId: string; run: RunView }>
}

export function createSnapshots({ clock, store, tables }: RuntimeContext, runViews: RunViews): Snapshots {
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

  /** All that belongs together, in one read; what the turns hold is read after it, one by one. */
  function readRows(sessionId: string, beforeTurn: string | undefined, limit: number) {
    return store.db.transaction(() => {
      const session = tables.sessions.get(sessionId)
      if (session === null) {
        throw new AppError('session_not_found', 'This session no longer exists.', { detail: sessionId })
      }
      const before = beforeTurn === undefined ? null : findTurn(sessionId, beforeTurn).startSeq
      const rows = tables.transcript.turns({ sessionId, before, limit })
      return { session, rows, pending: tables.decisions.pending(sessionId), draft: tables.drafts.get(sessionId) }
    })()
  }

  /** `fresh`: it was worked out now. */
  async function viewOf(row: TurnRow): Promise<{ view: RunView; fresh: boolean }> {
    const run = row.runId === null ? null : tables.runs.get(row.runId)
    if (run === null) return { view: readTurn(row, tables.transcript.entriesOf(row.id)), fresh: false }
    const { view, kept } = await runViews.of(run)
    return { view, fresh: !kept }
  }

  return {
    async of({ sessionId, beforeTurn, limit = 20 }) {
      const wanted = Math.min(MAX_TURNS, Math.max(1, limit))
      const { session, rows, pending, draft } = readRows(sessionId, beforeTurn, wanted + 1)
      let left = MAX_BYTES - bytesOf({ session, pending, draft })
      const turns: RunView[] = []
      const fresh: RunView[] = []
      const pace = createPace(clock)
      for (const row of rows.slice(0, wanted)) {
        const found = await viewOf(row)
        if (found.fresh) fresh.push(found.view)
        const turn = fitTurn(found.view, TURN_BYTES)
        left -= bytesOf(turn)
        if (left < 0 && turns.length > 0) break
        turns.unshift(turn)
        await pace()
      }
      void runViews.keep(fresh)
      const hasEarlier = turns.length < rows.length
      return { session, turns, hasEarlier, headSeq: session.headSeq, floorSeq: session.floorSeq, pending, draft }
    },
    async view(runId) {
      const run = find(runId)
      const { view, kept } = await runViews.of(run)
      if (!kept) void runViews.keep([view])
      return { sessionId: run.sessionId, run: fitTurn(view, VIEW_BYTES) }
    },
  }
}
