import { assertNever } from '../../../shared/errors.ts'
import type { RuntimeContext } from '../context.ts'
import type { RunRegistry } from '../execution/active.ts'
import type { Inspection, StopCode } from '../types.ts'
import type { Recovery } from './attempt.ts'

export interface StopOutcome {
  code: StopCode
  execution: Inspection
}

export interface StopDeps {
  ctx: RuntimeContext
  registry: RunRegistry
  recovery: Recovery
  inspect: (sessionId: string) => Inspection
}

/**
 * Stops what runs in a session, whoever runs it. The inspection is an expectation only: each step looks again, and a run
 * that was not meant is never touched.
 */
export function createStop({ ctx, registry, recovery, inspect }: StopDeps) {
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
        return answer('remote_stop_unsupported')
      case 'local': {
        const run = registry.ofSession(sessionId)
        if (run === null || run.spec.runId !== seen.activeRun?.runId) return answer(changed(inspect(sessionId)))
        run.end({ kind: 'person' })
        return answer('stop_accepted')
      }
      case 'orphaned':
      case 'recovery_failed':
        return answer(await stopOrphan(sessionId))
      default:
        return assertNever(seen.state)
    }
  }

  async function stopOrphan(sessionId: string): Promise<StopCode> {
    try {
      const outcome = await recovery.recover(sessionId, 'user_stop')
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
