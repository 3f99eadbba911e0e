/**
 * When a client should stop trying: a route that has met nothing but transport failures for a while. An answer clears it,
 * and so does a pause, since whoever comes back later may find the network mended.
 */
import type { Clock } from '../../platform/types.ts'

const GIVE_UP_MS = 120_000
const FORGET_MS = 30_000

export interface Reachability {
  answered(routeDigest: string): void
  /** Answers whether a retry may still help. */
  failed(routeDigest: string): 'retryable' | 'permanent'
}

export function createReachability(clock: Pick<Clock, 'monotonicMs'>): Reachability {
  const failing = new Map<string, { sinceMs: number; lastMs: number }>()
  return {
    answered: (routeDigest) => void failing.delete(routeDigest),
    failed(routeDigest) {
      const nowMs = clock.monotonicMs()
      for (const [digest, { lastMs }] of failing) if (nowMs - lastMs >= FORGET_MS) failing.delete(digest)
      const sinceMs = failing.get(routeDigest)?.sinceMs ?? nowMs
      failing.set(routeDigest, { sinceMs, lastMs: nowMs })
      return nowMs - sinceMs >= GIVE_UP_MS ? 'permanent' : 'retryable'
    },
  }
}
