import { AppError } from '../../shared/errors.ts'
import { isBusy, toStoreError } from './sqlite-errors.ts'
import { createPace } from './turns.ts'
import type { Clock, Database, Log, Store, Tx } from './types.ts'

const BUSY_WAITS_MS = [10, 20, 40, 80, 160, 250]
const BUSY_LIMIT_MS = 5_000

interface Job {
  /** One attempt, from BEGIN to COMMIT. */
  attempt(): void
  fail(error: unknown): void
  isSettled(): boolean
  signal: AbortSignal | undefined
  deadlineMs: number
}

export type WriteQueue = Pick<Store, 'writeTx' | 'afterCommit'> & {
  /** What still waits fails with `host_stopping`, and so does everything that comes later. */
  close(): void
}

/**
 * All writes of this process, first come, first served, so that a short one is never starved while a busy database makes
 * others wait. Between attempts nothing blocks.
 */
export function createWriteQueue(db: Database, { clock, log }: { clock: Clock; log: Log }): WriteQueue {
  const queue: Job[] = []
  const callbacks = new WeakMap<Tx, (() => void)[]>()
  let pumping = false
  let closed = false

  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')

  function transact<T>(fn: (tx: Tx) => T): { result: T; told: readonly (() => void)[] } {
    const tx: Tx = { db }
    const told: (() => void)[] = []
    begin.run()
    callbacks.set(tx, told)
    try {
      const result = fn(tx)
      if (result instanceof Promise) {
        // It may go on writing after the rollback: whoever handed it in gets its rejection as well as this error.
        throw new AppError('internal', 'A transaction must not wait for anything.')
      }
      commit.run()
      return { result, told }
    } catch (error) {
      if (db.inTransaction) rollback.run()
      throw error
    } finally {
      callbacks.delete(tx)
    }
  }

  function tell(fn: () => void): void {
    try {
      fn()
    } catch (error) {
      log.error('A subscriber failed after a commit.', { error })
    }
  }

  function writeTx<T>(fn: (tx: Tx) => T, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error)
      if (closed) return reject(stopping())
      let settled = false
      const settle = (end: () => void): void => {
        if (settled) return
        settled = true
        signal?.removeEventListener('abort', abort)
        end()
      }
      const fail = (error: unknown): void => settle(() => reject(error))
      const abort = (): void => fail(signal?.reason)
      signal?.addEventListener('abort', abort, { once: true })
      queue.push({
        attempt() {
          const { result, told } = transact(fn)
          settle(() => resolve(result))
          for (const callback of told) tell(callback)
        },
        fail,
        isSettled: () => settled,
        signal,
        deadlineMs: clock.monotonicMs() + BUSY_LIMIT_MS,
      })
      void pump()
    })
  }

  /** Runs what waits. The first attempt of an idle queue happens within the call of `writeTx`. */
  async function pump(): Promise<void> {
    if (pumping) return
    pumping = true
    const pace = createPace(clock)
    for (let job = queue[0]; job !== undefined; job = queue[0]) {
      await runToEnd(job)
      // Closing empties the queue under the one that waits.
      if (queue[0] === job) queue.shift()
      if (queue.length > 0) await pace()
    }
    pumping = false
  }

  /** Never rejects. */
  function runToEnd(job: Job, tries = 0): Promise<void> | undefined {
    if (job.isSettled()) return undefined
    try {
      job.attempt()
      return undefined
    } catch (error) {
      const leftMs = job.deadlineMs - clock.monotonicMs()
      if (!isBusy(error) || leftMs <= 0) {
        job.fail(toStoreError(error))
        return undefined
      }
      const waitMs = Math.min(BUSY_WAITS_MS[tries] ?? 250, leftMs)
      const again = (): Promise<void> | undefined => runToEnd(job, tries + 1)
      return clock.sleep(waitMs, job.signal).then(again, again)
    }
  }

  return {
    writeTx,
    afterCommit(tx, fn) {
      const pending = callbacks.get(tx)
      if (pending === undefined) tell(fn)
      else pending.push(fn)
    },
    close() {
      closed = true
      for (const job of queue.splice(0)) job.fail(stopping())
    },
  }
}

function stopping(): AppError {
  return new AppError('host_stopping', 'Wheelhouse is closing: nothing was saved.')
}
