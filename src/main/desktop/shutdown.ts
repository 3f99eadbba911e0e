import { withDeadline } from '../platform/index.ts'
import type { Clock, Log } from '../platform/index.ts'

/** Everything in order, and no later. */
export const STOP_LIMIT_MS = 15_000

export interface Shutdown {
  /** Runs the steps once, one after the other, within `STOP_LIMIT_MS` in all. False: the time was not enough. */
  stop(): Promise<boolean>
  readonly stopping: boolean
}

/** A step that fails is logged and the next one runs all the same. */
export function createShutdown(deps: {
  clock: Clock
  log: Log
  steps: readonly { name: string; run(): Promise<unknown> | void }[]
}): Shutdown {
  const { clock, log, steps } = deps
  let running: Promise<boolean> | null = null

  const inOrder = async (): Promise<void> => {
    for (const step of steps) {
      try {
        await step.run()
      } catch (error) {
        log.error('a step of the stop failed', { step: step.name, error })
      }
    }
  }
  const bounded = (): Promise<boolean> =>
    withDeadline(clock, STOP_LIMIT_MS, undefined, inOrder).then(
      () => true,
      (error: unknown) => {
        log.error('the stop took too long and was cut short', { error })
        return false
      },
    )
  return {
    stop: () => (running ??= bounded()),
    get stopping() {
      return running !== null
    },
  }
}
