/**
 * A topic of state: the whole of it first, then what changes. A subscriber that falls behind loses the queue and gets the
 * whole again, so that the host never holds more than `MAX_QUEUED` changes for anyone.
 */
const MAX_QUEUED = 256

export interface StateTopic<E> {
  publish(change: E): void
  open(signal: AbortSignal): AsyncIterable<E>
  subscribers(): number
}

/** `snapshot` answers the whole state of now as an event of the topic. */
export function createStateTopic<E>(snapshot: () => E | Promise<E>): StateTopic<E> {
  const queues = new Set<{ changes: E[]; behind: boolean; wake: () => void }>()
  return {
    publish(change) {
      for (const queue of queues) {
        if (queue.changes.length >= MAX_QUEUED) {
          queue.changes.length = 0
          queue.behind = true
        }
        if (!queue.behind) queue.changes.push(change)
        queue.wake()
      }
    },
    async *open(signal) {
      const queue = { changes: [] as E[], behind: false, wake: () => {} }
      queues.add(queue)
      const onAbort = (): void => queue.wake()
      signal.addEventListener('abort', onAbort)
      try {
        yield await snapshot()
        while (!signal.aborted) {
          if (queue.behind) {
            queue.behind = false
            queue.changes.length = 0
            yield await snapshot()
            continue
          }
          const change = queue.changes.shift()
          if (change !== undefined) {
            yield change
            continue
          }
          // oxlint-disable-next-line no-loop-func -- the queue is this subscriber's own
          await new Promise<void>((resolve) => {
            queue.wake = resolve
          })
        }
      } finally {
        queues.delete(queue)
        signal.removeEventListener('abort', onAbort)
      }
    },
    subscribers: () => queues.size,
  }
}
