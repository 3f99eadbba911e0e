import type { OwnershipView } from '../../../shared/bridge/index.ts'
import { readable } from '../../runtime/index.ts'
import type { Runtime, SessionRow } from '../../runtime/index.ts'

/** Who executes each run that has not ended, and until when nobody else may. */
export function ownerships(runtime: Runtime): OwnershipView[] {
  return readable(runtime.sessions.withActiveRun(), (id) => ownershipOf(runtime, runtime.sessions.get(id)))
}

function ownershipOf(runtime: Runtime, { id, title }: SessionRow): OwnershipView {
  const found = runtime.sessions.inspect(id)
  const { activeRun: run, leasePurpose, leaseExpiresAt, recoveryAttempt } = found
  return {
    sessionId: id,
    sessionTitle: title,
    state: found.state,
    run: run === null ? null : { runId: run.runId, state: run.state, startedAt: run.startedAt, source: run.source },
    ownerPid: found.ownerPid,
    lease:
      leasePurpose === null || leaseExpiresAt === null ? null : { purpose: leasePurpose, expiresAt: leaseExpiresAt },
    recovery:
      recoveryAttempt === null
        ? null
        : { attempt: recoveryAttempt, lastError: found.recoveryLastError, nextAt: found.recoveryNextAt },
    error: found.error,
  }
}
