export type UsageBy = 'day' | 'session' | 'connection' | 'model'

/** `input` is uncached. Null: no answer said. */
export interface UsageRow {
  /** A day as `2026-01-31`, or an id. */
  readonly key: string
  readonly requests: number
  readonly failed: number
  readonly input: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly output: number | null
  readonly reasoning: number | null
}
