/** The newest routed request of each session, for whoever words a run's failure, and a subscription to all of them. */
import type { Log } from '../platform/types.ts'
import type { ExchangeRecord } from './types.ts'

const REMEMBERED_SESSIONS = 1_024

export interface Exchanges {
  record(exchange: ExchangeRecord): void
  last(sessionId: string): ExchangeRecord | null
  subscribe(listener: (exchange: ExchangeRecord) => void): () => void
  forget(sessionId: string): void
}

export function createExchanges(log: Log): Exchanges {
  const newest = new Map<string, ExchangeRecord>()
  const listeners = new Set<(exchange: ExchangeRecord) => void>()
  return {
    record(exchange) {
      newest.delete(exchange.sessionId)
      newest.set(exchange.sessionId, exchange)
      const oldest = newest.keys().next()
      if (newest.size > REMEMBERED_SESSIONS && oldest.done !== true) newest.delete(oldest.value)
      for (const listener of listeners) {
        try {
          listener(exchange)
        } catch (error) {
          log.error('a listener of exchanges failed', { error })
        }
      }
    },
    last: (sessionId) => newest.get(sessionId) ?? null,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    forget: (sessionId) => void newest.delete(sessionId),
  }
}
