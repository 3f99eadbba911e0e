import type { Clock } from '../../src/main/platform/types.ts'

export interface FakeClock extends Clock {
  /** Moves both clocks on by `ms`. Timers fire in order of their time, and promises settle between two of them. */
  advance(ms: number): Promise<void>
  /** The wall clock alone jumps, as when somebody sets the time or the machine slept. */
  jumpWall(ms: number): void
  /** Timers that still wait. */
  pending(): number
  /** Timers that have run. */
  fired(): number
}

interface Timer {
  dueMs: number
  order: number
  fn: () => void
}

/** A clock that stands still until the test moves it. */
export function createFakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  const timers = new Set<Timer>()
  let wallMs = startMs
  let monotonicMs = 0
  let order = 0
  let fired = 0

  function after(ms: number, fn: () => void): Disposable {
    const timer = { dueMs: monotonicMs + Math.max(0, ms), order: order++, fn }
    timers.add(timer)
    return { [Symbol.dispose]: () => void timers.delete(timer) }
  }

  function moveTo(dueMs: number): void {
    wallMs += Math.max(0, dueMs - monotonicMs)
    monotonicMs = Math.max(monotonicMs, dueMs)
  }

  function nextDue(limitMs: number): Timer | undefined {
    const due = [...timers].filter((timer) => timer.dueMs <= limitMs)
    return due.sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)[0]
  }

  return {
    nowMs: () => wallMs,
    monotonicMs: () => monotonicMs,
    after,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason as Error)
        const timer = after(ms, () => {
          signal?.removeEventListener('abort', abort)
          resolve()
        })
        const abort = (): void => {
          timer[Symbol.dispose]()
          reject(signal?.reason as Error)
        }
        signal?.addEventListener('abort', abort, { once: true })
      })
    },
    async advance(ms) {
      const targetMs = monotonicMs + ms
      await settled()
      for (let timer = nextDue(targetMs); timer !== undefined; timer = nextDue(targetMs)) {
        timers.delete(timer)
        moveTo(timer.dueMs)
        fired++
        timer.fn()
        await settled()
      }
      moveTo(targetMs)
      await settled()
    },
    jumpWall(ms) {
      wallMs += ms
    },
    pending: () => timers.size,
    fired: () => fired,
  }
}

/** Lets every promise that can settle without a timer do so. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
