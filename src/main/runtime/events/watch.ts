import { z } from 'zod'
import type { Clock, Log, Store } from '../../platform/types.ts'

export interface Watch {
  /** Somebody here cares what other processes commit. */
  onForeignCommit(listener: () => void): Disposable
  /** Looks whether there is another process to watch. Called on every scan, and when one was met. */
  consider(): void
  polling(): boolean
  stop(): void
}

export interface WatchDeps {
  clock: Clock
  log: Log
  store: Store
  pollMs: number
  /** Whether another instance holds a lease that has not run out. */
  othersAreHere: () => boolean
  /** Whether anybody here waits for news. */
  wanted: () => boolean
  /** Another process has committed something. */
  onForeignCommit: () => void
}

/**
 * Notices what other processes commit, by SQLite's data version, and only while there are others and somebody here waits for
 * news. Alone, it costs nothing.
 */
export function createWatch(deps: WatchDeps): Watch {
  const { clock, log, store, pollMs, othersAreHere, wanted } = deps
  const listeners = new Set<() => void>()
  let timer: Disposable | null = null
  let version: number | null = null
  let stopped = false

  function readVersion(): number {
    return z.number().parse(store.db.pragma('data_version', { simple: true }))
  }

  function poll(): void {
    timer = null
    try {
      const now = readVersion()
      if (version !== null && now !== version) {
        deps.onForeignCommit()
        for (const listener of listeners) listener()
      }
      version = now
    } catch (error) {
      log.warn("Other processes' commits could not be looked for.", { error })
    }
    consider()
  }

  function consider(): void {
    if (stopped || timer !== null) return
    if (!(listeners.size > 0 || wanted()) || !othersAreHere()) {
      version = null
      return
    }
    version ??= readVersion()
    timer = clock.after(pollMs, poll)
  }

  return {
    onForeignCommit(listener) {
      listeners.add(listener)
      consider()
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    consider,
    polling: () => timer !== null,
    stop() {
      stopped = true
      timer?.[Symbol.dispose]()
      timer = null
    },
  }
}
