export type UsageBy = 'day' | 'session' | 'connection' | 'model'

/** `input` is uncached. Null: no answer said. */
export interface UsageRow {
  /** A day as `2026-01-31`, a model's or another id; as a session, what came through the machine gateway is the empty one. */
  readonly key: string
  readonly requests: number
  readonly failed: number
  readonly input: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly output: number | null
  readonly reasoning: number | null
  /** Until the answer began, and until it ended: means over the requests that got so far, ms. */
  readonly firstByteMs: number | null
  readonly totalMs: number | null
}
