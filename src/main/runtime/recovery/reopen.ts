import { AppError, assertNever } from '../../../shared/errors.ts'
import { isTerminal } from '../../../shared/vocabulary.ts'
import type { RuntimeContext } from '../context.ts'
import { isLease } from '../leases/keeper.ts'
import type { RemoteEvidence, RunRow } from '../types.ts'

const MAX_REOPENED = 3

export interface ReopenRequest {
  runId: string
  /** What its driver says of it now. Null: nothing does, and the run stays ended. */
  evidence: RemoteEvidence | null
}

/**
 * A run that was ended as lost, and that goes on elsewhere all the same: the one exception from "ended is ended". It is then
 * a run without an owner, and taken up as such.
 * @throws AppError `run_not_found`, `run_transition_invalid`, `session_run_active`, `session_busy`.
 */
export function createReopen({ clock, store, tables, keeper, writer, changes }: RuntimeContext) {
  return ({ runId, evidence }: ReopenRequest): Promise<void> =>
    store.writeTx((tx) => {
      const run = tables.runs.get(runId)
      if (run === null) throw new AppError('run_not_found', 'This run no longer exists.', { detail: runId })
      const { sessionId } = run
      if (tables.runs.active(sessionId).length > 0) {
        throw new AppError('session_run_active', 'This session has a run under way.', { detail: sessionId })
      }
      const refused = refusal(run, evidence, tables.runs.latestAttempt(run.intentId))
      if (refused !== null || evidence === null) {
        throw new AppError('run_transition_invalid', 'This run has ended and stays so.', { detail: refused ?? runId })
      }
      const at = clock.nowMs()
      // Its triggers refuse a change of state without this count, and the lease is for a run that has not ended.
      tables.runs.reopen(runId, at)
      const lease = keeper.take(tx, { sessionId, purpose: 'recovery', runId })
      if (!isLease(lease)) throw new AppError('session_busy', 'This session is in use. Try again in a moment.')
      tables.records.putRemote(runId, evidence, at)
      tables.records.forgetView(runId)
      tables.transcript.reopenTurn(runId)
      // What its first end planned, and nobody has tried yet, is planned anew by the next one.
      tables.deliveries.withdraw(runId)
      const reopenCount = run.reopenCount + 1
      writer.emitIn(tx, sessionId)({ runId, type: 'run_reopened', state: 'running', data: { reopenCount } })
      keeper.releaseIn(tx, lease)
      store.afterCommit(tx, () => {
        changes.tell({ kind: 'run', sessionId, runId })
        changes.tell({ kind: 'session', sessionId })
      })
    })
}

/** Why not; null: it may. */
function refusal(run: RunRow, evidence: RemoteEvidence | null, latestAttempt: number): string | null {
  if (evidence === null || evidence.terminal) return 'nothing proves that it goes on'
  if (run.attempt !== latestAttempt) return 'a newer attempt exists'
  if (run.reopenCount >= MAX_REOPENED) return `it was reopened ${MAX_REOPENED} times`
  const { state } = run
  if (!isTerminal(state)) return 'it has not ended'
  switch (state) {
    case 'completed':
      return 'it was completed'
    case 'failed':
    case 'incomplete':
    case 'cancelled':
    case 'timed_out':
      return null
    default:
      return assertNever(state)
  }
}
