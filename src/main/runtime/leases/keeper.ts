/**
 * The leases that this instance holds: takes them inside a transaction, renews all of them in one, and tells each holder
 * the moment its lease is lost. A holder that lost it can write nothing, whatever it believes.
 */
import { createHash } from 'node:crypto'
import { AppError } from '../../../shared/errors.ts'
import type { Clock, Failpoints, Ids, Log, Store, Tx } from '../../platform/types.ts'
import type { LeaseKey, LeaseRow, LeaseTable } from '../store/leases.ts'
import type { RuntimeTiming } from '../timing.ts'
import type { HostIdentity, LeasePurpose } from '../types.ts'
import type { LeaseValidity } from './validity.ts'

const RENEW_RETRY_MS = 200

export interface Lease extends LeaseKey {
  readonly purpose: LeasePurpose
  readonly runId: string | null
  /** Aborts within 50 ms of finding out that somebody else has it, or that it could not be renewed. */
  readonly lost: AbortSignal
}

interface Holding {
  lease: Lease
  loss: AbortController
}

export interface LeaseKeeper {
  readonly instanceId: string
  isValid(row: LeaseRow): boolean
  /** Takes the session's lease, or answers the row that stands in the way. Held from the commit on. */
  take(tx: Tx, want: { sessionId: string; purpose: LeasePurpose; runId: string | null }): Lease | LeaseRow
  /** @throws AppError `lease_lost`. A lease that ran out and that nobody took is renewed by this. */
  fence(tx: Tx, lease: Lease): void
  holds(tx: Tx, lease: Lease): boolean
  /** Turns the right to recover a run into the right to execute it. @throws AppError `lease_lost`, `lease_purpose_invalid`. */
  executeIn(tx: Tx, lease: Lease): Lease
  /** Gives it up inside the transaction that ends its use. */
  releaseIn(tx: Tx, lease: Lease): void
  release(lease: Lease): Promise<void>
  markLost(lease: Lease): void
  /** The lease this instance holds for a session. */
  held(sessionId: string): Lease | null
  all(): readonly Lease[]
  /** Stops renewing. What is still held is left to expire. */
  stop(): void
}

export function isLease(taken: Lease | LeaseRow): taken is Lease {
  return 'lost' in taken
}

export interface KeeperDeps {
  clock: Clock
  ids: Ids
  log: Log
  store: Store
  failpoints: Failpoints
  host: HostIdentity
  leases: LeaseTable
  isValid: LeaseValidity
  timing: RuntimeTiming
}

export function createLeaseKeeper(deps: KeeperDeps): LeaseKeeper {
  const { clock, ids, log, store, failpoints, host, leases, isValid, timing } = deps
  const instanceId = ids.next()
  const holdings = new Map<string, Holding>()
  let timer: Disposable | null = null
  let failingSinceMs: number | null = null
  let stopped = false

  function hold(lease: Lease, loss: AbortController): void {
    holdings.set(lease.sessionId, { lease, loss })
    schedule(timing.heartbeatMs)
  }

  function drop(lease: Lease): void {
    if (holdings.get(lease.sessionId)?.lease.epoch === lease.epoch) holdings.delete(lease.sessionId)
    if (holdings.size > 0) return
    timer?.[Symbol.dispose]()
    timer = null
  }

  function markLost(lease: Lease): void {
    const holding = holdings.get(lease.sessionId)
    if (holding === undefined || holding.lease.epoch !== lease.epoch) return
    drop(lease)
    log.warn('A lease was lost.', { sessionId: lease.sessionId, epoch: lease.epoch, purpose: lease.purpose })
    holding.loss.abort(new AppError('lease_lost', 'Another process has taken this session over.'))
  }

  function schedule(ms: number): void {
    if (timer !== null || stopped) return
    timer = clock.after(ms, () => {
      timer = null
      void renewAll()
    })
  }

  async function renewAll(): Promise<void> {
    const startedMs = clock.monotonicMs()
    const current = [...holdings.values()]
    if (current.length === 0) return
    try {
      const lost = await store.writeTx(() => {
        const now = clock.nowMs()
        return current.filter(({ lease }) => !leases.renew(lease, now, now + timing.leaseTtlMs))
      })
      failingSinceMs = null
      // One that was released meanwhile is no longer among the holdings: markLost passes it over.
      for (const { lease } of lost) markLost(lease)
      if (holdings.size > 0) schedule(timing.heartbeatMs)
    } catch (error) {
      failingSinceMs ??= startedMs
      log.warn('Leases could not be renewed.', { error, count: current.length })
      if (clock.monotonicMs() - failingSinceMs >= timing.heartbeatGiveUpMs) {
        failingSinceMs = null
        for (const { lease } of current) markLost(lease)
      }
      if (holdings.size > 0) schedule(RENEW_RETRY_MS)
    }
  }

  function holds(_tx: Tx, lease: Lease): boolean {
    const expiresAt = leases.expiry(lease)
    if (expiresAt === null) return false
    const now = clock.nowMs()
    if (expiresAt <= now) leases.renew(lease, now, now + timing.leaseTtlMs)
    return true
  }

  return {
    instanceId,
    isValid,
    take(tx, { sessionId, purpose, runId }) {
      const seen = leases.get(sessionId)
      if (seen !== null && isValid(seen)) return seen
      const loss = new AbortController()
      const tokenHash = createHash('sha256').update(ids.bytes(32)).digest('hex')
      const epoch = (seen?.epoch ?? 0) + 1
      const lease: Lease = {
        sessionId,
        epoch,
        tokenHash,
        ownerInstance: instanceId,
        purpose,
        runId,
        lost: loss.signal,
      }
      const at = clock.nowMs()
      const taken = leases.take({
        ...lease,
        ownerPid: host.pid,
        ownerHost: host.ownerHost,
        at,
        expiresAt: at + timing.leaseTtlMs,
      })
      if (!taken) throw new AppError('session_busy', 'Somebody else was faster. Try again in a moment.')
      store.afterCommit(tx, () => hold(lease, loss))
      return lease
    },
    fence(tx, lease) {
      if (!lease.lost.aborted && holds(tx, lease)) return
      queueMicrotask(() => markLost(lease))
      throw new AppError('lease_lost', 'Another process has taken this session over.', { detail: lease.sessionId })
    },
    holds,
    executeIn(tx, lease) {
      if (lease.purpose !== 'recovery') {
        throw new AppError('lease_purpose_invalid', 'Only what recovers a run may go on to execute it.', {
          detail: lease.purpose,
        })
      }
      this.fence(tx, lease)
      leases.convert(lease, 'execution', lease.runId)
      const owned: Lease = { ...lease, purpose: 'execution' }
      store.afterCommit(tx, () => {
        const holding = holdings.get(lease.sessionId)
        if (holding?.lease.epoch === lease.epoch) holdings.set(lease.sessionId, { ...holding, lease: owned })
      })
      return owned
    },
    releaseIn(tx, lease) {
      leases.release(lease, clock.nowMs())
      store.afterCommit(tx, () => {
        drop(lease)
        failpoints.hit('release.after_commit')
      })
    },
    async release(lease) {
      drop(lease)
      try {
        await store.writeTx(() => leases.release(lease, clock.nowMs()))
        failpoints.hit('release.after_commit')
      } catch (error) {
        log.warn('A lease could not be released and is left to run out.', { error, sessionId: lease.sessionId })
      }
    },
    markLost,
    held: (sessionId) => holdings.get(sessionId)?.lease ?? null,
    all: () => [...holdings.values()].map(({ lease }) => lease),
    stop() {
      stopped = true
      timer?.[Symbol.dispose]()
      timer = null
    },
  }
}
