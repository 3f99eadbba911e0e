/** The newest requests of all routes and of the gateway, in memory alone: what they were, never what they said. */
import type { Exchange } from './types.ts'

const REMEMBERED = 500

export interface Inspector {
  record(exchange: Exchange): void
  /** Newest first. */
  list(): readonly Inspected[]
  subscribe(listener: (request: Inspected) => void): () => void
  /** Forgets what it has. */
  clear(): void
}

/** `id` counts from 1 over routes and gateway together. */
export type Inspected = Exchange & { readonly id: number }

/** `isOn`: while it says no, nothing is kept and nobody is told. */
export function createInspector(isOn: () => boolean): Inspector {
  const ring: Inspected[] = []
  const listeners = new Set<(request: Inspected) => void>()
  let count = 0
  return {
    record(exchange) {
      if (!isOn()) return
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
    clear: () => void ring.splice(0),
  }
}
