import { performance } from 'node:perf_hooks'
import type { Clock } from './types.ts'

/** Node turns a longer delay into 1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The machine's own time. No timer of it keeps the process alive. */
export function createSystemClock(): Clock {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    after,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
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
      }),
  }
}

function after(ms: number, fn: () => void): Disposable {
  let timer = setTimeout(fire, Math.min(ms, LONGEST_TIMER_MS)).unref()
  let leftMs = ms - LONGEST_TIMER_MS
  function fire(): void {
    if (leftMs <= 0) return fn()
    timer = setTimeout(fire, Math.min(leftMs, LONGEST_TIMER_MS)).unref()
    leftMs -= LONGEST_TIMER_MS
  }
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
