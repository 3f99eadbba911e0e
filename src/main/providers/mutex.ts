/** The owner lock: runs one piece of work at a time, in the order of asking. Network work never runs inside. */
export interface Mutex {
  run<T>(work: () => Promise<T>): Promise<T>
}

export function createMutex(): Mutex {
  let tail: Promise<unknown> = Promise.resolve()
  return {
    run<T>(work: () => Promise<T>): Promise<T> {
      const turn = tail.then(work)
      tail = turn.catch(() => undefined)
      return turn
    },
  }
}
