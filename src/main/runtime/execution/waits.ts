import type { Clock } from '../../platform/types.ts'

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** A budget of time that runs only while nobody waits for a person. */
export interface Deadline extends Disposable {
  pause(): void
  resume(): void
}

export function createDeadline(clock: Clock, ms: number, onExpired: () => void): Deadline {
  let leftMs = ms
  let running: { timer: Disposable; sinceMs: number } | null = null
  const pause = (): void => {
    if (running === null) return
    running.timer[Symbol.dispose]()
    leftMs -= clock.monotonicMs() - running.sinceMs
    running = null
  }
  return {
    pause,
    resume() {
      running ??= { timer: clock.after(Math.max(0, leftMs), onExpired), sinceMs: clock.monotonicMs() }
    },
    [Symbol.dispose]: pause,
  }
}
