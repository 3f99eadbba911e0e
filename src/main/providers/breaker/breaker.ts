/**
 * A connection's circuit breaker, as pure steps on a monotonic clock. It opens when a Provider fails again and again, and
 * closes when one request got through. Whether an open one is skipped is the failover rule's business: without a rule it
 * is only shown.
 */

/** `failed`: the Provider's own fault. `neither`: says nothing of the Provider (the agent hung up, a refusal of ours). */
export type AttemptOutcome = 'answered' | 'failed' | 'neither'

/** All times are monotonic ms. */
export interface Breaker {
  readonly state: 'closed' | 'open' | 'probing'
  /** Failures since the last answer. */
  readonly row: number
  /** Of the last minute, oldest first. */
  readonly recent: readonly { readonly atMs: number; readonly failed: boolean }[]
  readonly openedAtMs: number
  /** How long it stays open this time, and until when. */
  readonly openMs: number
  readonly untilMs: number
}

export const FAILURES_IN_A_ROW = 5
export const WINDOW_MS = 60_000
export const FEWEST_IN_WINDOW = 10
export const FIRST_OPEN_MS = 30_000
export const LONGEST_OPEN_MS = 300_000
/** What a busy minute is judged by. */
const MOST_REMEMBERED = 256

export const CLOSED: Breaker = { state: 'closed', row: 0, recent: [], openedAtMs: 0, openMs: 0, untilMs: 0 }

/** What a guarded request meets now: `probe` is the one that may try an open breaker again. */
export function gate(breaker: Breaker, nowMs: number): 'pass' | 'probe' | 'skip' {
  if (breaker.state === 'closed') return 'pass'
  return breaker.state === 'open' && nowMs >= breaker.untilMs ? 'probe' : 'skip'
}

export function probing(breaker: Breaker): Breaker {
  return { ...breaker, state: 'probing' }
}

/** `beganMs`: of the attempt that ended. What began before the breaker opened is no news. */
export function ended(
  breaker: Breaker,
  outcome: AttemptOutcome,
  { beganMs, nowMs, probe }: { beganMs: number; nowMs: number; probe: boolean },
): Breaker {
  if (breaker.state === 'closed') return outcome === 'neither' ? breaker : counted(breaker, outcome, nowMs)
  if (!probe && beganMs < breaker.openedAtMs) return breaker
  if (outcome === 'answered') return CLOSED
  if (probe && breaker.state === 'probing') {
    return outcome === 'failed' ? reopened(breaker, nowMs) : { ...breaker, state: 'open', untilMs: nowMs }
  }
  // Without a rule nothing is held back: what fails past its time was the probe.
  return outcome === 'failed' && breaker.state === 'open' && nowMs >= breaker.untilMs
    ? reopened(breaker, nowMs)
    : breaker
}

function counted(breaker: Breaker, outcome: 'answered' | 'failed', nowMs: number): Breaker {
  const failed = outcome === 'failed'
  const row = failed ? breaker.row + 1 : 0
  const first = breaker.recent.findIndex(({ atMs }) => nowMs - atMs < WINDOW_MS)
  const within = first === -1 ? [] : breaker.recent.slice(Math.max(first, breaker.recent.length + 1 - MOST_REMEMBERED))
  const recent = [...within, { atMs: nowMs, failed }]
  return failed && (row >= FAILURES_IN_A_ROW || isHalfFailed(recent))
    ? opened(FIRST_OPEN_MS, nowMs)
    : { ...breaker, row, recent }
}

function isHalfFailed(recent: Breaker['recent']): boolean {
  return recent.length >= FEWEST_IN_WINDOW && recent.filter(({ failed }) => failed).length * 2 >= recent.length
}

function opened(openMs: number, nowMs: number): Breaker {
  return { state: 'open', row: 0, recent: [], openedAtMs: nowMs, openMs, untilMs: nowMs + openMs }
}

function reopened({ openMs }: Breaker, nowMs: number): Breaker {
  return opened(Math.min(openMs * 2, LONGEST_OPEN_MS), nowMs)
}
