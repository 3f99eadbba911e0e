import { createSystemClock } from '../../src/main/platform/index.ts'
import type { Clock } from '../../src/main/platform/types.ts'

/** The system's clock, and how many of its timers wait. */
export function countedClock(): { clock: Clock; waiting(): number } {
  const clock = createSystemClock()
  const open = new Set<object>()
  return {
    waiting: () => open.size,
    clock: {
      ...clock,
      after(ms, fn) {
        const key = {}
        open.add(key)
        const timer = clock.after(ms, () => {
          open.delete(key)
          fn()
        })
        return {
          [Symbol.dispose]() {
            open.delete(key)
            timer[Symbol.dispose]()
          },
        }
      },
      async sleep(ms, signal) {
        const key = {}
        open.add(key)
        await clock.sleep(ms, signal).finally(() => open.delete(key))
      },
    },
  }
}
