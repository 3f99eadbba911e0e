/** The newest requests of all routes and of the gateway, in memory alone: what they were, never what they said. */
import type { Exchange } from './types.ts'

const REMEMBERED = 500

export interface Inspector {
  record(exchange: Exchange): void
  /** Newest first. */
  list(): readonly Inspected[]
  subscribe(listener: (request: Inspected) => void): () => void
}

/** `id` counts from 1 over routes and gateway together. */
export type Inspected = Exchange & { readonly id: number }

export function createInspector(): Inspector {
  const ring: Inspected[] = []
  const listeners = new Set<(request: Inspected) => void>()
  let count = 0
  return {
    record(exchange) {
      count += 1
      const request = { ...exchange, id: count }
      ring.push(request)
      if (ring.length > REMEMBERED) ring.shift()
      for (const listener of listeners) listener(request)
    },
    list: () => ring.toReversed(),
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
