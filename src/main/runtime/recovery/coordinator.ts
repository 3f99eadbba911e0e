import { AppError } from '../../../shared/errors.ts'
import type { RuntimeContext } from '../context.ts'
import type { ScanOutcome } from '../types.ts'
import type { Recovery, RecoveryOutcome, RecoveryTrigger } from './attempt.ts'

const AT_ONCE = 8
/** A tick that comes so much too late means that the machine slept. */
const SLEEP_GAP_MS = 10_000

export interface Coordinator {
  /** Scans now and then every 5 s. Returns at once; `firstScan` tells how the first one went. */
  start(): { firstScan: Promise<ScanOutcome> }
  /** Scans soon; many calls are one scan. */
  wake(): void
  /** @throws AppError the first failure of the scan; every session was tried all the same. */
  scanNow(): Promise<ScanOutcome>
  stop(): Promise<void>
}

/** Finds runs without an owner and has each recovered. An error never ends the loop; each is told to the host. */
export function createCoordinator(ctx: RuntimeContext, recovery: Recovery, onTick: () => void): Coordinator {
  const { clock, log, tables, changes, timing } = ctx
  let timer: Disposable | null = null
  let scanning: Promise<ScanOutcome> | null = null
  let last = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
  let stopped = false

  function schedule(ms: number): void {
    timer?.[Symbol.dispose]()
    timer = stopped ? null : clock.after(ms, tick)
  }

  function tick(): void {
    const now = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
    const gapMs = Math.max(now.wallMs - last.wallMs, now.monotonicMs - last.monotonicMs)
    last = now
    onTick()
    // After a sleep live owners renew first.
    if (gapMs > timing.scanMs + SLEEP_GAP_MS) return schedule(timing.sleepGraceMs)
    void scan('scan').then(
      () => schedule(timing.scanMs),
      () => schedule(timing.scanMs),
    )
  }

  function scan(trigger: RecoveryTrigger): Promise<ScanOutcome> {
    scanning ??= scanOnce(trigger)
      .then(
        (outcome) => {
          changes.tell({ kind: 'scan', outcome, error: null })
          return outcome
        },
        (error: unknown) => {
          log.warn('A recovery scan did not get through.', { error })
          changes.tell({ kind: 'scan', outcome: null, error: error instanceof AppError ? error.code : 'internal' })
          throw error
        },
      )
      .finally(() => {
        scanning = null
      })
    return scanning
  }

  async function scanOnce(trigger: RecoveryTrigger): Promise<ScanOutcome> {
    const outcome: ScanOutcome = { failed: 0, finished: 0, kept: 0, skipped: 0 }
    const errors: unknown[] = []
    const sessions = tables.runs.sessionsWithActiveRun()
    const next = sessions[Symbol.iterator]()
    async function work(): Promise<void> {
      for (const sessionId of next) {
        if (stopped) return
        try {
          const result: RecoveryOutcome = await recovery.recover(sessionId, trigger)
          outcome[result]++
        } catch (error) {
          errors.push(error)
        }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    if (errors.length > 0) throw errors[0]
    return outcome
  }

  return {
    start() {
      const firstScan = scan('scan')
      firstScan.catch(() => undefined).finally(() => schedule(timing.scanMs))
      return { firstScan }
    },
    wake() {
      if (stopped) return
      timer?.[Symbol.dispose]()
      timer = clock.after(0, () => {
        void scan('wake').then(
          () => schedule(timing.scanMs),
          () => schedule(timing.scanMs),
        )
      })
    },
    scanNow: () => scan('wake'),
    async stop() {
      stopped = true
      timer?.[Symbol.dispose]()
      timer = null
      await scanning?.catch(() => undefined)
    },
  }
}
