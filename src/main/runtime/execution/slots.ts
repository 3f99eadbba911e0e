import { AppError } from '../../../shared/errors.ts'

export interface Slots {
  /** A free slot at once, or a place in the queue. @throws AppError `run_queue_full`. */
  take(): { slot: Disposable } | { turn: Promise<Disposable>; leave: () => void }
  inUse(): number
}

/** First come, first served: `size` runs at once, `waiting` more in line. */
export function createSlots(size: number, waiting: number): Slots {
  const line: ((slot: Disposable) => void)[] = []
  let used = 0

  function occupy(): Disposable {
    used++
    let free = false
    return {
      [Symbol.dispose]() {
        if (free) return
        free = true
        used--
        line.shift()?.(occupy())
      },
    }
  }

  return {
    take() {
      if (used < size) return { slot: occupy() }
      if (line.length >= waiting) {
        throw new AppError('run_queue_full', `${waiting} runs are waiting already. Let some of them end first.`)
      }
      let enter: (slot: Disposable) => void = () => undefined
      const turn = new Promise<Disposable>((resolve) => {
        enter = resolve
      })
      line.push(enter)
      return {
        turn,
        leave() {
          const at = line.indexOf(enter)
          if (at >= 0) line.splice(at, 1)
        },
      }
    },
    inUse: () => used,
  }
}
