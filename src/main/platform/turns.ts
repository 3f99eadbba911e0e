/** Long work of one thread, cut so that everything else gets its turn. */
import type { Clock } from './types.ts'

/** Resolves when whatever waits now has had its turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** As `fn` of all items at once, but `size` at a time, with a turn of the event loop between two slices. */
export async function mapInSlices<T, R>(
  items: readonly T[],
  size: number,
  fn: (slice: readonly T[]) => readonly R[],
): Promise<R[]> {
  const results: R[] = []
  for (let from = 0; from < items.length; from += size) {
    if (from > 0) await nextTurn()
    results.push(...fn(items.slice(from, from + size)))
  }
  return results
}

/** After so long in a row the event loop gets its turn. */
const SLICE_MS = 8

/** To be awaited between the steps of long work: gives way once the steps since the last time took 8 ms. */
export function createPace(clock: Pick<Clock, 'monotonicMs'>): () => Promise<void> {
  let sinceMs = clock.monotonicMs()
  return async () => {
    if (clock.monotonicMs() - sinceMs < SLICE_MS) return
    await nextTurn()
    sinceMs = clock.monotonicMs()
  }
}
