import { AppError } from '../../shared/errors.ts'
import type { Clock } from './types.ts'

/**
 * Runs `fn` for at most `ms`. The signal it gets aborts at the deadline and when the caller's does; the answer comes then,
 * whether `fn` listens or not, and what it does later is dropped.
 * @throws AppError `deadline_exceeded`; the reason of `signal`; whatever `fn` throws.
 */
export function withDeadline<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal | undefined,
  fn: (inner: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error)
    const inner = new AbortController()
    const timer = clock.after(ms, () => {
      giveUp(new AppError('deadline_exceeded', 'This took too long and was given up.', { detail: `after ${ms} ms` }))
    })
    const cancel = (): void => giveUp(signal?.reason)
    signal?.addEventListener('abort', cancel, { once: true })

    function giveUp(reason: unknown): void {
      reject(reason)
      release()
      inner.abort(reason)
    }
    function release(): void {
      timer[Symbol.dispose]()
      signal?.removeEventListener('abort', cancel)
    }
    // `fn` may throw before it returns a promise.
    const work = Promise.resolve(inner.signal).then(fn)
    work.then(resolve, reject).finally(release)
  })
}

/** What `promise` brings within `ms`, else null. It is not cancelled. Rejections pass through. */
export function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => resolve(null))
    promise.then(resolve, reject).finally(() => timer[Symbol.dispose]())
  })
}
