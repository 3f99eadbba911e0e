/** What leaves memory when nobody sits here: the screen is locked, or the machine goes to sleep. */
import type { PowerMonitor } from 'electron'

const AWAY = ['lock-screen', 'suspend'] as const

/** Calls `leave` each time; the next request reads its key from the store again. */
export function onAway(monitor: Pick<PowerMonitor, 'on' | 'off'>, leave: () => void): Disposable {
  // Each event has a signature of its own, so they cannot be named by one variable.
  const events = monitor as { on(name: string, fn: () => void): void; off(name: string, fn: () => void): void }
  for (const name of AWAY) events.on(name, leave)
  return {
    [Symbol.dispose]() {
      for (const name of AWAY) events.off(name, leave)
    },
  }
}
