/** Lines in order, one at a time: while one is still being handled, what follows it waits. */
export interface HeldLines {
  /** `line` is valid during the call alone. */
  take(line: Uint8Array): void
  /** Runs once all that was taken before it is handled. */
  finish(done: () => void): void
}

export interface HeldLinesParts {
  /** A promise: this line is handled once it settles. */
  onLine(line: Uint8Array): void | Promise<void>
  /** Holds back, or lets go of, whatever brings the lines. */
  pause(): void
  resume(): void
}

export function createHeldLines({ onLine, pause, resume }: HeldLinesParts): HeldLines {
  const waiting: (() => void | Promise<void>)[] = []
  let busy = false

  function wait(handled: void | Promise<void>): void {
    if (!(handled instanceof Promise)) return
    busy = true
    pause()
    void goOn(handled)
  }

  async function goOn(handled: Promise<void>): Promise<void> {
    await handled.catch(() => undefined)
    busy = false
    while (!busy) {
      const step = waiting.shift()
      if (step === undefined) return resume()
      wait(step())
    }
  }

  return {
    take(line) {
      if (!busy) return wait(onLine(line))
      const kept = Uint8Array.from(line)
      waiting.push(() => onLine(kept))
    },
    finish(done) {
      if (busy) waiting.push(done)
      else done()
    },
  }
}
