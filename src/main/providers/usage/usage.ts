/** Counts what Router and gateway saw go by: one row a request, written in batches beside the stream. */
import type { Clock, Log, Store } from '../../platform/types.ts'
import type { Exchange } from '../router/types.ts'
import { KEPT_MS, createUsageTables } from './tables.ts'
import type { UsageBy, UsageRow } from './types.ts'

/** A crash may lose as much. */
const BATCH_MS = 1_000
const BATCH_ROWS = 100
/** What could not be written is tried again after so long, while no more than so many wait. */
const RETRY_MS = 10_000
const MAX_WAITING = 10_000
const DAY_MS = 86_400_000

export interface Usage {
  /** Synchronous, never throws. */
  record(exchange: Exchange): void
  totals(by: UsageBy, days: number): Promise<readonly UsageRow[]>
  /** Puts requests past their time into the totals of their days. */
  tidy(): Promise<void>
  /** Writes what waits. What cannot be written then is lost. */
  close(): Promise<void>
}

export function createUsage({ store, clock, log }: { store: Store; clock: Clock; log: Log }): Usage {
  const tables = createUsageTables(store.db)
  let waiting: Exchange[] = []
  let timer: Disposable | null = null
  let closed = false
  let writing: Promise<void> = Promise.resolve()

  function flush(): Promise<void> {
    timer?.[Symbol.dispose]()
    timer = null
    const batch = waiting
    waiting = []
    if (batch.length === 0) return writing
    writing = writing
      .then(() => store.writeTx(() => batch.forEach((exchange) => tables.add(exchange))))
      .catch((error: unknown) => {
        log.warn('usage could not be counted yet', { requests: batch.length, error })
        waiting = [...batch, ...waiting].slice(-MAX_WAITING)
        if (!closed) timer ??= clock.after(RETRY_MS, () => void flush())
      })
    return writing
  }

  return {
    record(exchange) {
      if (!isCounted(exchange)) return
      waiting.push(exchange)
      if (waiting.length % BATCH_ROWS === 0) void flush()
      else timer ??= clock.after(BATCH_MS, () => void flush())
    },
    async totals(by, days) {
      await flush()
      return tables.totals(by, clock.nowMs() - days * DAY_MS)
    },
    tidy: () => store.writeTx(() => tables.roll(clock.nowMs() - KEPT_MS)),
    close() {
      closed = true
      return flush()
    },
  }
}

/** A refusal of ours cost nothing, a count of tokens is none, and what names no model, as a list of them, asked none. */
function isCounted({ origin, endpoint, modelSent, usage }: Exchange): boolean {
  return origin === 'upstream' && endpoint !== 'count_tokens' && (modelSent !== '' || usage !== null)
}
