import { useSyncExternalStore } from 'react'

const TICK_MS = 30_000

let nowMs = Date.now()
let timer: ReturnType<typeof setInterval> | null = null
const listeners = new Set<() => void>()

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  if (timer === null) {
    // Nobody looked for a while: the first one sees the time of now.
    nowMs = Date.now()
    timer = setInterval(() => {
      nowMs = Date.now()
      for (const tell of listeners) tell()
    }, TICK_MS)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
}

/** The wall clock for relative times, in Unix ms: one slow tick for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs)
}
