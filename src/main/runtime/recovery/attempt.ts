/**
 * Brings one orphaned run to its true end: the one its owner had chosen, or the plain fact that the owner is gone. Lease
 * first: whoever does not hold it writes nothing.
 */
import { AppError } from '../../../shared/errors.ts'
import { isTerminal } from '../../../shared/vocabulary.ts'
import type { Actor, SideEffects, TerminalState } from '../../../shared/vocabulary.ts'
import { withDeadline } from '../../platform/index.ts'
import type { RuntimeContext } from '../context.ts'
import type { RunRegistry } from '../execution/active.ts'
import { toErrorInfo } from '../execution/classify.ts'
import { worse } from '../execution/facts.ts'
import { ORPHAN_STATES } from '../execution/machine.ts'
import { safeText } from '../execution/redact.ts'
import { writeTerminal } from '../execution/terminal.ts'
import { isLease } from '../leases/keeper.ts'
import type { Lease } from '../leases/keeper.ts'
import type { PreparedEnd } from '../store/runs.ts'
import type { RemoteRow } from '../store/records.ts'
import type { ErrorInfo, RunRow } from '../types.ts'
import { hasOpenTool } from './open-tools.ts'
import type { RemoteRuns } from './remote.ts'

const LONGEST_RETRY_MS = 60_000
const RECORD_LIMIT_MS = 5_000
const ERROR_BYTES = 1_024
const RECOVERY: Actor = { via: 'recovery', connection: null }

const REMOTE_ENDS: Readonly<Record<string, { state: TerminalState; code: string | null }>> = {
  completed: { state: 'completed', code: null },
  incomplete: { state: 'incomplete', code: 'run_incomplete' },
  cancelled: { state: 'cancelled', code: 'run_cancelled' },
  timed_out: { state: 'timed_out', code: 'run_timed_out' },
}

export type RecoveryTrigger = 'scan' | 'wake' | 'admission' | 'user_stop'
export type RecoveryOutcome = 'failed' | 'finished' | 'kept' | 'skipped'

export interface Recovery {
  /**
   * `failed`: the run ended as lost; `finished`: with the end its owner had prepared; `kept`: it goes on elsewhere;
   * `skipped`: somebody else has it, it is not due, or it is another than `onlyRunId`.
   * @throws AppError `worker_still_alive`, `lease_run_mismatch` and what the store throws; recorded, with the time of the next try.
   */
  recover(sessionId: string, trigger: RecoveryTrigger, onlyRunId?: string): Promise<RecoveryOutcome>
}

export function createRecovery(ctx: RuntimeContext, registry: RunRegistry, remotes: RemoteRuns): Recovery {
  const { clock, log, store, tables, keeper, writer, executor, failpoints, changes, timing, secrets } = ctx

  /** It was tried, and its next try is not due. */
  function isEarly(run: RunRow, trigger: RecoveryTrigger): boolean {
    if (trigger !== 'scan' && trigger !== 'wake') return false
    return (tables.records.recovery(run.id)?.nextRetryAt ?? 0) > clock.nowMs()
  }

  /** The one run of a session that has no owner, or null. */
  function orphan(sessionId: string): RunRow | null {
    const [run, second] = tables.runs.active(sessionId)
    if (run === undefined || second !== undefined || registry.ofSession(sessionId) !== null) return null
    const lease = tables.leases.get(sessionId)
    if (lease !== null && keeper.isValid(lease)) return null
    return run
  }

  /**
   * The lease for exactly this run, with its recovery on record; null: somebody else was first.
   * @throws AppError `recovery_not_needed`, `lease_run_mismatch`.
   */
  function begin(run: RunRow, trigger: RecoveryTrigger): Promise<Lease | null> {
    return store.writeTx((tx) => {
      const { id: runId, sessionId } = run
      const previousEpoch = tables.leases.get(sessionId)?.epoch ?? 0
      const lease = keeper.take(tx, { sessionId, purpose: 'recovery', runId })
      if (!isLease(lease)) return null
      const now = tables.runs.get(runId)
      if (now === null || isTerminal(now.state)) {
        throw new AppError('recovery_not_needed', 'The run has ended meanwhile.', { detail: runId })
      }
      if (now.state !== run.state || now.updatedAt !== run.updatedAt) {
        throw new AppError('lease_run_mismatch', 'The run changed while it was taken over.', { detail: runId })
      }
      const at = clock.nowMs()
      tables.records.beginRecovery({ runId, sessionId, trigger, reason: 'owner_lost', previousEpoch, at })
      return lease
    })
  }

  async function converge(run: RunRow, lease: Lease, trigger: RecoveryTrigger): Promise<RecoveryOutcome> {
    const prepared = run.state === 'terminalizing' ? preparedOf(run) : null
    if (prepared !== null) {
      await write(run, lease, prepared)
      return 'finished'
    }
    const remote = remotes.evidence(run.id)
    if (remote !== null) return keep(run, lease, remote)
    const ref = { sessionId: run.sessionId, runId: run.id, workerRef: run.workerRef }
    const worker = await withDeadline(clock, timing.quiesceMs, lease.lost, (signal) => executor.quiesce(ref, signal))
    if (worker === 'alive') {
      throw new AppError('worker_still_alive', 'The agent of a run whose owner is gone still lives.', {
        detail: run.id,
      })
    }
    await write(run, lease, await lostEnd(run, trigger, worker === 'stopped'))
    return 'failed'
  }

  /** It goes on elsewhere, or ended there: it is taken up, or given the end that is known. */
  async function keep(run: RunRow, lease: Lease, remote: RemoteRow): Promise<RecoveryOutcome> {
    if (remote.terminal) {
      await write(run, lease, await remoteEnd(run, remote))
      return 'finished'
    }
    await store.writeTx(() => tables.records.detach({ runId: run.id, error: '', nextRetryAt: null, at: clock.nowMs() }))
    await remotes.reattach(run, lease, remote)
    return 'kept'
  }

  /** The driver's word for how it ended, as far as it is one of ours; the answer is what was heard of it. */
  async function remoteEnd(run: RunRow, { state: word }: RemoteRow): Promise<PreparedEnd> {
    const named = REMOTE_ENDS[word] ?? { state: 'failed', code: 'run_failed' }
    const { sideEffects, partialOutput } = run
    const collector = await remotes.collected(run.id)
    const error = named.code === null ? null : errorOf(run, named.code, sideEffects)
    const assistant = collector.answer()
    return {
      state: named.state,
      stopReason: word,
      error,
      assistant,
      tools: collector.tools(),
      sideEffects,
      partialOutput,
    }
  }

  function errorOf(run: RunRow, code: string, sideEffects: SideEffects): ErrorInfo {
    return toErrorInfo(
      { message: '', code },
      {
        sideEffects,
        partialOutput: run.partialOutput,
        runId: run.id,
        intentId: run.intentId,
        attempt: run.attempt,
        phase: 'terminalization',
        redact: (text) => secrets.redact(text),
      },
    )
  }

  function preparedOf(run: RunRow): PreparedEnd | null {
    try {
      return tables.runs.prepared(run.id)
    } catch (error) {
      log.error('The prepared end of a run cannot be read.', { error, runId: run.id })
      return null
    }
  }

  /** `signalled`: what the worker was doing when it was ended is not known. */
  async function lostEnd(run: RunRow, trigger: RecoveryTrigger, signalled: boolean): Promise<PreparedEnd> {
    const doubt = signalled || (await hasOpenTool(ctx, run.id))
    const sideEffects = doubt ? worse(run.sideEffects, 'unknown') : run.sideEffects
    const stopped = trigger === 'user_stop'
    const error = errorOf(run, stopped ? 'cancelled_by_user_after_owner_loss' : 'owner_lost', sideEffects)
    const { partialOutput } = run
    const state = stopped ? 'cancelled' : 'failed'
    return { state, stopReason: null, error, assistant: null, tools: [], sideEffects, partialOutput }
  }

  function write(run: RunRow, lease: Lease, end: PreparedEnd): Promise<void> {
    const { id: runId, sessionId } = run
    return store.writeTx((tx) => {
      keeper.fence(tx, lease)
      const at = clock.nowMs()
      const settled = writeTerminal(tables, writer.emitIn(tx, sessionId), {
        runId,
        sessionId,
        end,
        from: [...ORPHAN_STATES, 'terminalizing'],
        event: 'run_recovered',
        by: RECOVERY,
        at,
        capabilityOf: ctx.capabilityOf,
        failpoint: () => undefined,
      })
      tables.records.completeRecovery(runId, at)
      keeper.releaseIn(tx, lease)
      failpoints.hit('converge.before_commit')
      store.afterCommit(tx, () => {
        for (const decisionId of settled) changes.tell({ kind: 'decision', sessionId, decisionId })
        changes.tell({ kind: 'run', sessionId, runId })
        changes.tell({ kind: 'session', sessionId })
      })
    })
  }

  const isRemote = (run: RunRow): boolean => remotes.evidence(run.id) !== null

  async function record(run: RunRow, error: unknown): Promise<void> {
    const attempt = tables.records.recovery(run.id)?.attempt ?? 1
    const at = clock.nowMs()
    const nextRetryAt = at + Math.min(LONGEST_RETRY_MS, 1_000 * 2 ** (attempt - 1))
    const text = error instanceof AppError ? `${error.code}: ${error.message}` : String(error)
    const last = safeText(text, ERROR_BYTES, (message) => secrets.redact(message))
    const put = isRemote(run) ? tables.records.detach : tables.records.failRecovery
    await withDeadline(clock, RECORD_LIMIT_MS, undefined, (signal) =>
      store.writeTx(() => put({ runId: run.id, error: last, nextRetryAt, at }), signal),
    )
  }

  return {
    async recover(sessionId, trigger, onlyRunId) {
      const run = orphan(sessionId)
      if (run === null || (onlyRunId !== undefined && run.id !== onlyRunId)) return 'skipped'
      if (isEarly(run, trigger)) return isRemote(run) ? 'kept' : 'skipped'
      const lease = await begin(run, trigger).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'recovery_not_needed') return null
        throw error
      })
      if (lease === null) return 'skipped'
      changes.tell({ kind: 'session', sessionId })
      try {
        return await withDeadline(clock, timing.attemptMs, lease.lost, () => converge(run, lease, trigger))
      } catch (error) {
        await record(run, error).catch((failure: unknown) =>
          log.warn('A failed recovery could not be recorded.', { error: failure, runId: run.id }),
        )
        await keeper.release(lease)
        changes.tell({ kind: 'session', sessionId })
        // It goes on all the same, and the next look tries again.
        if (isRemote(run)) return 'kept'
        throw error
      }
    },
  }
}
