import { AppError, assertNever } from '../../../shared/errors.ts'
import { withDeadline } from '../../platform/index.ts'
import type { RuntimeContext } from '../context.ts'
import type { RunRegistry } from '../execution/active.ts'
import { isLease } from '../leases/keeper.ts'
import type { Inspection, StopCode } from '../types.ts'
import type { Recovery } from './attempt.ts'
import { remoteRef } from './remote.ts'

const STOP_AGAIN_MS = 1_000

export interface StopOutcome {
  code: StopCode
  execution: Inspection
}

export interface StopDeps {
  ctx: RuntimeContext
  registry: RunRegistry
  recovery: Recovery
  inspect: (sessionId: string) => Inspection
  /** Has the runs without an owner looked at soon. */
  wake: () => void
}

/**
 * Stops what runs in a session, whoever runs it. The inspection is an expectation only: each step looks again, and a run
 * that was not meant is never touched.
 */
export function createStop({ ctx, registry, recovery, inspect, wake }: StopDeps) {
  return async function stop(request: { sessionId: string; expectedRunId?: string }): Promise<StopOutcome> {
    const { sessionId, expectedRunId } = request
    const seen = inspect(sessionId)
    const answer = (code: StopCode): StopOutcome => ({ code, execution: inspect(sessionId) })
    if (expectedRunId !== undefined && seen.error === null && seen.activeRun?.runId !== expectedRunId) {
      return answer('session_run_target_changed')
    }
    switch (seen.state) {
      case 'idle':
        return answer('no_active_run')
      case 'reserved':
        return answer('session_reserved')
      case 'external':
        return answer('session_run_owned_elsewhere')
      case 'unknown':
      case 'inconsistent':
        return answer('session_execution_state_unavailable')
      case 'detached_remote':
        return answer(await stopRemote(sessionId, seen))
      case 'local': {
        const run = registry.ofSession(sessionId)
        if (run === null || run.spec.runId !== seen.activeRun?.runId) return answer(changed(inspect(sessionId)))
        run.end({ kind: 'person' })
        return answer('stop_accepted')
      }
      case 'orphaned':
      case 'recovery_failed':
        return answer(await stopOrphan(sessionId, seen.activeRun?.runId ?? ''))
      default:
        return assertNever(seen.state)
    }
  }

  async function stopRemote(sessionId: string, seen: Inspection): Promise<StopCode> {
    if (seen.recoveryAction === 'finalize_remote') {
      wake()
      return 'recovery_started'
    }
    const { cancelRemote } = ctx.executor
    if (!seen.canCancelRemote || cancelRemote === undefined) return 'remote_stop_unsupported'
    const { clock, store, tables, keeper, log, timing } = ctx
    const runId = seen.activeRun?.runId ?? ''
    const lease = await store.writeTx((tx) => {
      const taken = keeper.take(tx, { sessionId, purpose: 'recovery', runId })
      return isLease(taken) ? taken : null
    })
    if (lease === null) return changed(inspect(sessionId))
    try {
      const remote = tables.records.remote(runId)
      const [run] = tables.runs.active(sessionId)
      if (remote === null || run?.id !== runId) return changed(inspect(sessionId))
      await withDeadline(clock, timing.attemptMs, lease.lost, (signal) => cancelRemote(remoteRef(run, remote), signal))
      await store.writeTx((tx) => {
        keeper.fence(tx, lease)
        tables.records.requestCancel(runId, clock.nowMs())
      })
      return 'remote_stop_accepted'
    } catch (error) {
      if (error instanceof AppError && error.code === 'remote_stop_unsupported') return 'remote_stop_unsupported'
      if (lease.lost.aborted || (error instanceof AppError && error.code === 'lease_lost')) {
        return changed(inspect(sessionId))
      }
      log.warn('A run that goes on elsewhere could not be stopped.', { error, sessionId })
      // What could not be told to it is not asked of it again at once.
      const nextRetryAt = clock.nowMs() + STOP_AGAIN_MS
      await store.writeTx(() =>
        tables.records.detach({ runId, error: 'remote_stop_failed', nextRetryAt, at: clock.nowMs() }),
      )
      return 'remote_stop_failed'
    } finally {
      await keeper.release(lease)
      wake()
    }
  }

  async function stopOrphan(sessionId: string, runId: string): Promise<StopCode> {
    try {
      const outcome = await recovery.recover(sessionId, 'user_stop', runId)
      return outcome === 'failed' || outcome === 'finished' ? 'recovery_started' : changed(inspect(sessionId))
    } catch (error) {
      ctx.log.warn('A run without an owner could not be stopped.', { error, sessionId })
      return 'session_recovery_failed'
    }
  }
}

/** What to say when the facts turned out to be others than those that were seen. */
function changed(now: Inspection): StopCode {
  switch (now.state) {
    case 'idle':
      return 'no_active_run'
    case 'reserved':
      return 'session_reserved'
    case 'external':
      return 'session_run_owned_elsewhere'
    case 'detached_remote':
      return 'remote_stop_unsupported'
    case 'orphaned':
    case 'recovery_failed':
      return 'session_recovery_failed'
    default:
      return 'session_execution_state_unavailable'
  }
}
