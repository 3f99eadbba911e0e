/** The runtime's times, in milliseconds. Tests may shorten them; the product runs with these. */
export interface RuntimeTiming {
  leaseTtlMs: number
  heartbeatMs: number
  /** How long renewals may fail before every lease counts as lost. */
  heartbeatGiveUpMs: number
  flushMs: number
  /** A caller that waits for a busy session looks again after so long … */
  admissionPollMs: number
  /** … and gives up after this. */
  admissionWaitMs: number
  startLimitMs: number
  /** From `cancel` to `kill`. */
  cancelGraceMs: number
  /** From `kill` to an end without the agent's word. */
  killGraceMs: number
  answerLimitMs: number
  answerRetryMs: number
  attendedDecisionMs: number
  unattendedDecisionMs: number
  attendedRunMs: number
  unattendedRunMs: number
  endWorkMs: number
  /** After so long the writer of an end says that it is pending, and goes on. */
  persistPendingMs: number
  scanMs: number
  attemptMs: number
  quiesceMs: number
  /** After a gap in the clock (sleep) live owners get this long to renew first. */
  sleepGraceMs: number
  pollMs: number
  resourcesMs: number
  stopRunsMs: number
}

export const TIMING: RuntimeTiming = {
  leaseTtlMs: 15_000,
  heartbeatMs: 3_000,
  heartbeatGiveUpMs: 12_000,
  flushMs: 100,
  admissionPollMs: 50,
  admissionWaitMs: 30_000,
  startLimitMs: 120_000,
  cancelGraceMs: 10_000,
  killGraceMs: 5_000,
  answerLimitMs: 5_000,
  answerRetryMs: 1_000,
  attendedDecisionMs: 23 * 3_600_000,
  unattendedDecisionMs: 10 * 60_000,
  attendedRunMs: 16 * 3_600_000,
  unattendedRunMs: 2 * 3_600_000,
  endWorkMs: 30_000,
  persistPendingMs: 10_000,
  scanMs: 5_000,
  attemptMs: 10_000,
  quiesceMs: 5_000,
  sleepGraceMs: 15_000,
  pollMs: 250,
  resourcesMs: 5_000,
  stopRunsMs: 5_000,
}
