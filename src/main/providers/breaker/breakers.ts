/** The breakers of all connections, in memory: after a start every Provider is innocent again. */
import type { Clock, Log } from '../../platform/types.ts'
import { CLOSED, ended, gate, probing } from './breaker.ts'
import type { AttemptOutcome, Breaker } from './breaker.ts'

/** One request on its way to a connection. The first word counts; the rest change nothing. */
export interface Attempt {
  end(outcome: AttemptOutcome): void
}

/** `untilMs`: unix ms, when it is tried again. */
export interface BreakerView {
  readonly state: 'open' | 'probing'
  readonly untilMs: number
}

export interface Breakers {
  /** `guarded`: null where the connection is to be skipped now. Others always pass. */
  begin(connectionId: string, guarded: boolean): Attempt | null
  /** Null: closed. */
  view(connectionId: string): BreakerView | null
  /** How long until the first of them is tried again; 0: at once. */
  waitMs(connectionIds: readonly string[]): number
  /** The connection was changed or deleted: what was learnt of it no longer holds. */
  forget(connectionId: string): void
}

export function createBreakers(deps: { clock: Clock; log: Log; onChange: () => void }): Breakers {
  const { clock, log } = deps
  const breakers = new Map<string, Breaker>()
  const of = (connectionId: string): Breaker => breakers.get(connectionId) ?? CLOSED

  function put(connectionId: string, next: Breaker): void {
    const before = of(connectionId)
    if (next === CLOSED) breakers.delete(connectionId)
    else breakers.set(connectionId, next)
    if (before.state === next.state && before.untilMs === next.untilMs) return
    log.info('a Provider connection’s circuit breaker moved', { connectionId, from: before.state, to: next.state })
    deps.onChange()
  }

  return {
    begin(connectionId, guarded) {
      const beganMs = clock.monotonicMs()
      const breaker = of(connectionId)
      const verdict = guarded ? gate(breaker, beganMs) : 'pass'
      if (verdict === 'skip') return null
      const probe = verdict === 'probe'
      if (probe) put(connectionId, probing(breaker))
      let over = false
      return {
        end(outcome) {
          if (over) return
          over = true
          const nowMs = clock.monotonicMs()
          put(connectionId, ended(of(connectionId), outcome, { beganMs, nowMs, probe }))
        },
      }
    },
    view(connectionId) {
      const { state, untilMs } = of(connectionId)
      if (state === 'closed') return null
      return { state, untilMs: Math.round(clock.nowMs() + untilMs - clock.monotonicMs()) }
    },
    waitMs(connectionIds) {
      const nowMs = clock.monotonicMs()
      return Math.max(0, Math.min(...connectionIds.map((id) => of(id).untilMs - nowMs)))
    },
    forget: (connectionId) => put(connectionId, CLOSED),
  }
}
