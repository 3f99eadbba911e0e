import { AppError } from '../../../shared/errors.ts'
import type { RuntimeContext } from '../context.ts'
import type { Recovery } from '../recovery/attempt.ts'
import { isLease } from './keeper.ts'
import type { Lease } from './keeper.ts'

const MAX_GROUP = 64

export interface Mutations {
  /**
   * Runs `fn` with the right to change what no run may see changing, in all of these sessions or in none. Given back
   * whatever happens. A run whose owner is gone is brought to its end first.
   * @throws AppError `session_not_found`, `session_run_active`, `session_busy`, `input_invalid` (more than 64 sessions).
   */
  hold<T>(sessionIds: readonly string[], fn: (leases: readonly Lease[]) => Promise<T>): Promise<T>
}

export function createMutations({ store, tables, keeper }: RuntimeContext, recovery: Recovery): Mutations {
  /** Ascending and in one transaction: two groups that share a session never wait for each other. */
  function takeAll(sessionIds: readonly string[]): Promise<{ leases: Lease[] } | { orphan: string }> {
    return store.writeTx((tx) => {
      let orphan: string | null = null
      for (const sessionId of sessionIds) {
        if (tables.sessions.get(sessionId) === null) {
          throw new AppError('session_not_found', 'This session no longer exists.', { detail: sessionId })
        }
        const active = tables.runs.active(sessionId).length > 0
        const held = tables.leases.get(sessionId)
        if (held !== null && keeper.isValid(held)) throw busy(active)
        if (active) orphan ??= sessionId
      }
      if (orphan !== null) return { orphan }
      const leases = sessionIds.map((sessionId) => {
        const lease = keeper.take(tx, { sessionId, purpose: 'mutation', runId: null })
        if (!isLease(lease)) throw busy(false)
        return lease
      })
      return { leases }
    })
  }

  async function take(sessionIds: readonly string[]): Promise<Lease[]> {
    // Each session has one lost run at most.
    for (let tries = 0; tries <= sessionIds.length; tries++) {
      const taken = await takeAll(sessionIds)
      if ('leases' in taken) return taken.leases
      if ((await recovery.recover(taken.orphan, 'admission')) === 'skipped') break
    }
    throw busy(true)
  }

  return {
    async hold(sessionIds, fn) {
      const ids = [...new Set(sessionIds)].sort()
      if (ids.length > MAX_GROUP) throw new AppError('input_invalid', `At most ${MAX_GROUP} sessions at once.`)
      const leases = await take(ids)
      try {
        return await fn(leases)
      } finally {
        for (const lease of leases) {
          if (keeper.held(lease.sessionId)?.epoch === lease.epoch) await keeper.release(lease)
        }
      }
    },
  }
}

export function busy(active: boolean): AppError {
  return active
    ? new AppError('session_run_active', 'This session has a run under way. Stop it first.')
    : new AppError('session_busy', 'This session is in use. Try again in a moment.')
}
