import type { Failpoints } from '../../src/main/platform/types.ts'

export interface FakeFailpoints extends Failpoints {
  /** Names in the order in which they were passed. */
  readonly hits: readonly string[]
  /** The next time (or each time) that `name` is passed, the step throws `error`. */
  failAt(name: string, options?: { always?: boolean; error?: Error }): void
  /** Runs `fn` whenever `name` is passed: the place to look at the world from, or to change it. */
  onHit(name: string, fn: () => void): void
}

export function createFakeFailpoints(): FakeFailpoints {
  const hits: string[] = []
  const failures = new Map<string, { always: boolean; error: Error }>()
  const watchers = new Map<string, () => void>()
  return {
    hits,
    failAt(name, { always = false, error = new Error(`failpoint ${name}`) } = {}) {
      failures.set(name, { always, error })
    },
    onHit: (name, fn) => void watchers.set(name, fn),
    hit(name) {
      hits.push(name)
      watchers.get(name)?.()
      const failure = failures.get(name)
      if (failure === undefined) return
      if (!failure.always) failures.delete(name)
      throw failure.error
    },
  }
}
