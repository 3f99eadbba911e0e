import type { Clock, Log } from '../../platform/types.ts'

const FIRST_MS = 5_000
const EVERY_MS = 3_600_000

export interface HousekeepingJob {
  what: string
  run(): Promise<unknown>
}

export interface Housekeeping {
  /** Once the start is over, then every hour. */
  start(): void
  /** One round now. Many callers share it. Never rejects. */
  round(): Promise<void>
  /** Waits for the job that is under way; the rest of its round is left for the next time. */
  stop(): Promise<void>
}

/** Lets go of what is past its time: one job after another, so that they never compete with a run for the database. */
export function createHousekeeping(
  { clock, log }: { clock: Clock; log: Log },
  jobs: readonly HousekeepingJob[],
): Housekeeping {
  let timer: Disposable | null = null
  let current: Promise<void> | null = null
  let stopped = false

  async function work(): Promise<void> {
    for (const { what, run } of jobs) {
      if (stopped) return
      try {
        await run()
      } catch (error) {
        log.warn('A cleanup did not get through and is tried again in an hour.', { what, error })
      }
    }
  }

  function round(): Promise<void> {
    current ??= work().finally(() => {
      current = null
    })
    return current
  }

  function schedule(ms: number): void {
    timer = clock.after(ms, () => {
      void round().then(() => (stopped ? undefined : schedule(EVERY_MS)))
    })
  }

  return {
    start: () => schedule(FIRST_MS),
    round,
    async stop() {
      stopped = true
      timer?.[Symbol.dispose]()
      timer = null
      await current
    },
  }
}
