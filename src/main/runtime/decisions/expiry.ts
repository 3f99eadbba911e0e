import type { Clock } from '../../platform/types.ts'

/** The longest wait that a timer can be set to at once. */
const LONGEST_WAIT_MS = 12 * 3_600_000

export interface Expiry extends Disposable {
  /** There is something that ends at `atMs` (wall clock). */
  consider(atMs: number): void
}

/** One timer for the nearest end. `due` settles what has ended and answers when to look again. */
export function createExpiry({ clock, due }: { clock: Clock; due: () => number | null }): Expiry {
  let set: { timer: Disposable; atMs: number } | null = null

  function consider(atMs: number): void {
    if (set !== null && set.atMs <= atMs) return
    set?.timer[Symbol.dispose]()
    const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(0, atMs - clock.nowMs()))
    const timer = clock.after(waitMs, () => {
      set = null
      const next = due()
      if (next !== null) consider(next)
    })
    set = { timer, atMs }
  }

  return {
    consider,
    [Symbol.dispose]() {
      set?.timer[Symbol.dispose]()
      set = null
    },
  }
}
