import { AppError } from '../../../shared/errors.ts'
import type { RuntimeContext } from '../context.ts'
import type { RunRegistry } from '../execution/active.ts'
import type { LeaseRow } from '../store/leases.ts'
import type { RecoveryRow, RemoteRow } from '../store/records.ts'
import type { Inspection, RunRow } from '../types.ts'

interface Facts {
  sessionId: string
  exists: boolean
  runs: readonly RunRow[]
  lastRun: RunRow | null
  lease: LeaseRow | null
  leaseValid: boolean
  recovery: RecoveryRow | null
  remote: RemoteRow | null
  /** The lease is ours, and the run is registered here. */
  registered: boolean
  heldHere: boolean
}

type Verdict = Pick<Inspection, 'state' | 'phase' | 'linkage' | 'recoveryAction'>

/**
 * Who may do what to a session now: one read of the database, interpreted together with what this instance itself runs.
 * Never throws: what cannot be read is `unknown`.
 */
export function createInspector(ctx: RuntimeContext, registry: RunRegistry) {
  const { tables, keeper, store } = ctx

  function read(sessionId: string): Facts {
    const exists = tables.sessions.get(sessionId) !== null
    const runs = tables.runs.active(sessionId)
    const lease = tables.leases.get(sessionId)
    const leaseValid = lease !== null && keeper.isValid(lease)
    const [run] = runs
    const held = keeper.held(sessionId)
    const active = registry.ofSession(sessionId)
    const heldHere = lease !== null && held?.epoch === lease.epoch && held.tokenHash === lease.tokenHash
    return {
      sessionId,
      exists,
      runs,
      lastRun: tables.runs.lastEnded(sessionId),
      lease,
      leaseValid,
      recovery: run === undefined ? null : tables.records.recovery(run.id),
      remote: run === undefined ? null : tables.records.remote(run.id),
      heldHere,
      registered: heldHere && active?.spec.runId === run?.id && active?.lease.epoch === lease.epoch,
    }
  }

  return function inspect(sessionId: string): Inspection {
    try {
      const facts = store.db.transaction(() => read(sessionId))()
      return describe(facts, verdictOf(facts))
    } catch (error) {
      const code = error instanceof AppError ? error.code : 'internal'
      const nothing: Facts = {
        sessionId,
        exists: true,
        runs: [],
        lastRun: null,
        lease: null,
        leaseValid: false,
        recovery: null,
        remote: null,
        registered: false,
        heldHere: false,
      }
      const unknown: Verdict = { state: 'unknown', phase: null, linkage: 'none', recoveryAction: 'none' }
      return { ...describe(nothing, unknown), busy: true, error: code }
    }
  }
}

const verdict = (
  state: Verdict['state'],
  phase: Verdict['phase'],
  linkage: Verdict['linkage'],
  recoveryAction: Verdict['recoveryAction'] = 'none',
): Verdict => ({ state, phase, linkage, recoveryAction })

/** The first row that fits. */
function verdictOf(facts: Facts): Verdict {
  const { exists, runs, lease, leaseValid, recovery, remote } = facts
  const [run, second] = runs
  if (!exists) return verdict('unknown', 'missing', 'none')
  if (second !== undefined) return verdict('inconsistent', null, 'mismatched')
  if (run === undefined) {
    if (lease === null || !leaseValid) return verdict('idle', null, 'none')
    return verdict('reserved', RESERVED_PHASE[lease.purpose], 'none')
  }
  if (lease === null || !leaseValid) {
    if (remote !== null) {
      return remote.terminal
        ? verdict('detached_remote', 'recovering', 'none', 'finalize_remote')
        : verdict('detached_remote', 'executing', 'none', 'reattach_remote')
    }
    return recovery?.state === 'failed'
      ? verdict('recovery_failed', 'recovering', 'none', 'retry_recovery')
      : verdict('orphaned', 'recovering', 'none', 'recover_orphan')
  }
  if (lease.runId !== run.id) return verdict('inconsistent', null, 'mismatched')
  if (lease.purpose === 'recovery') return verdict('reserved', 'recovering', 'bound', 'retry_recovery')
  if (facts.registered) return verdict('local', 'executing', 'bound')
  return verdict(facts.heldHere ? 'inconsistent' : 'external', 'executing', 'bound')
}

const RESERVED_PHASE = {
  admission: 'admitting',
  execution: 'releasing',
  recovery: 'recovering',
  mutation: 'reserved',
  fork: 'reserved',
} as const

function describe(facts: Facts, { state, phase, linkage, recoveryAction }: Verdict): Inspection {
  const { sessionId, exists, runs, lastRun, lease, recovery, remote } = facts
  const [run] = runs
  const remoteRuns = state === 'detached_remote' && remote?.terminal === false
  return {
    sessionId,
    sessionExists: exists,
    activeRun:
      run === undefined
        ? null
        : {
            runId: run.id,
            state: run.state,
            source: run.source,
            model: run.model,
            mode: run.mode,
            startedAt: run.startedAt,
            updatedAt: run.updatedAt,
          },
    lastRun:
      lastRun?.finishedAt == null ? null : { runId: lastRun.id, state: lastRun.state, finishedAt: lastRun.finishedAt },
    state,
    phase,
    linkage,
    recoveryAction,
    running: state === 'local' || state === 'external' || remoteRuns,
    busy: state !== 'idle',
    canSubmit: state === 'idle',
    canCancelLocal: state === 'local',
    canCancelRemote: remoteRuns && remote.canCancel && !remote.cancelRequested,
    leasePurpose: lease?.purpose ?? null,
    leaseEpoch: lease?.epoch ?? null,
    leaseExpiresAt: lease?.expiresAt ?? null,
    leaseTokenIdentity: lease?.tokenHash ?? null,
    ownerInstanceId: lease?.ownerInstance ?? null,
    ownerPid: lease?.ownerPid ?? null,
    ownerScope: ownerScope(state),
    recoveryAttempt: recovery?.attempt ?? null,
    recoveryLastError: recovery === null || recovery.lastError === '' ? null : recovery.lastError,
    recoveryNextAt: recovery?.nextRetryAt ?? null,
    remoteRunId: remote?.remoteId ?? null,
    remoteDriver: remote?.driver ?? null,
    remoteState: remote?.state ?? null,
    error: null,
  }
}

function ownerScope(state: Inspection['state']): Inspection['ownerScope'] {
  switch (state) {
    case 'local':
      return 'local'
    case 'external':
      return 'external'
    case 'detached_remote':
      return 'remote'
    case 'unknown':
    case 'inconsistent':
      return 'unknown'
    default:
      return 'none'
  }
}
