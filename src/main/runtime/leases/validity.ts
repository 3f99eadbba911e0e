import type { Clock } from '../../platform/types.ts'
import type { LeaseRow } from '../store/leases.ts'
import type { HostIdentity } from '../types.ts'

/** A lease that ends so far ahead was written under another wall clock. */
const FAR_AHEAD_MS = 30_000
const STANDSTILL_MS = 15_000

export type LeaseValidity = (lease: LeaseRow) => boolean

/**
 * Judges whether a lease still binds others. Two shortcuts beside its expiry: its owner's process is gone from this very
 * machine; or the wall clock went back, and its heartbeat stood still over two looks 15 s of monotonic time apart. A wrong
 * guess is harmless, since the displaced owner can write nothing.
 */
export function createLeaseValidity({ clock, host }: { clock: Clock; host: HostIdentity }): LeaseValidity {
  const firstLooks = new Map<string, { heartbeatAt: number; atMs: number }>()

  function stoodStill(lease: LeaseRow): boolean {
    const first = firstLooks.get(lease.sessionId)
    if (first === undefined || first.heartbeatAt !== lease.heartbeatAt) {
      firstLooks.set(lease.sessionId, { heartbeatAt: lease.heartbeatAt, atMs: clock.monotonicMs() })
      return false
    }
    return clock.monotonicMs() - first.atMs >= STANDSTILL_MS
  }

  return (lease) => {
    const now = clock.nowMs()
    if (lease.state !== 'active' || lease.expiresAt <= now) {
      firstLooks.delete(lease.sessionId)
      return false
    }
    if (lease.ownerHost === host.ownerHost && !host.isAlive(lease.ownerPid)) return false
    return !(lease.expiresAt > now + FAR_AHEAD_MS && stoodStill(lease))
  }
}
