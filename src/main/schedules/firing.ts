import { AppError } from '../../shared/errors.ts'
import type { AgentId, Mode, RunState, RuntimeChoice } from '../../shared/vocabulary.ts'
import type { Clock, Log, Store } from '../platform/types.ts'
import type { ScheduleTable } from './store.ts'
import { nextTime } from './times.ts'
import type { LastTime, Schedule } from './types.ts'

/** Later than this, and a time was missed: the machine slept, or nothing was open. */
const GRACE_MS = 300_000

/** The session is at something else: this time is left out, the next one comes. */
const BUSY: ReadonlySet<string> = new Set([
  'session_run_active',
  'session_busy',
  'worker_still_alive',
  'detached_remote_execution',
])

/** As much of the runtime as a schedule needs. Errors are those of an admission. */
export interface FiringPort {
  /** The session that is bound to this schedule; null: there is none, or it was put away. */
  sessionOf(externalKey: string): { id: string; agentId: AgentId; workDir: string } | null
  /** Gives the name free, so that another session may bear it. */
  unbind(externalKey: string): Promise<void>
  createSession(request: {
    agentId: AgentId
    workDir: string
    mode: Mode
    choice: RuntimeChoice | null
    title: string
    externalKey: string
  }): Promise<{ id: string }>
  /** Does nothing where the session runs on it already. */
  choose(sessionId: string, choice: RuntimeChoice, signal: AbortSignal): Promise<void>
  submit(
    request: { sessionId: string; text: string; mode: Mode; key?: string },
    signal: AbortSignal,
  ): Promise<{ runId: string; state: RunState }>
  /** The run that was started with this key; null: none was. */
  lookup(request: { sessionId: string; text: string; mode: Mode; key: string }): string | null
}

export interface FirerDeps {
  clock: Pick<Clock, 'nowMs'>
  log: Log
  store: Store
  table: ScheduleTable
  port: FiringPort
  changed(): void
}

export interface Firer {
  /** Starts what is due, or says why not. False: the moment refused it, and the time stays due. */
  fire(schedule: Schedule, signal: AbortSignal): Promise<boolean>
  fireNow(schedule: Schedule, signal: AbortSignal): Promise<{ sessionId: string; runId: string; state: RunState }>
}

type Outcome = Pick<LastTime, 'outcome' | 'runId' | 'code' | 'message'>

/**
 * A time is started first and settled second, with a key that names it: a crash between the two finds the run that was
 * started, and starts no other.
 */
export function createFirer({ clock, log, store, table, port, changed }: FirerDeps): Firer {
  async function sessionFor(schedule: Schedule, signal: AbortSignal): Promise<string> {
    const externalKey = keyOf(schedule)
    const { agentId, workDir, mode, choice, name } = schedule
    const bound = port.sessionOf(externalKey)
    const fits = bound !== null && bound.agentId === agentId && bound.workDir === workDir
    if (!fits) await port.unbind(externalKey)
    const { id } = fits ? bound : await port.createSession({ agentId, workDir, mode, choice, title: name, externalKey })
    if (id !== schedule.sessionId) await store.writeTx(() => table.setSession(schedule.id, id))
    if (fits && choice !== null) await port.choose(id, choice, signal)
    return id
  }

  async function start(
    schedule: Schedule,
    key: string | null,
    signal: AbortSignal,
  ): Promise<{ sessionId: string; runId: string; state: RunState }> {
    const sessionId = await sessionFor(schedule, signal)
    const { prompt: text, mode } = schedule
    const admitted = await port.submit({ sessionId, text, mode, ...(key === null ? {} : { key }) }, signal)
    return { sessionId, ...admitted }
  }

  /** Null: to be tried again. */
  async function attempt(schedule: Schedule, dueAt: number, signal: AbortSignal): Promise<Outcome | null> {
    const key = `${keyOf(schedule)}:${dueAt}`
    const isLate = clock.nowMs() - dueAt > GRACE_MS
    if (isLate && !schedule.catchUp) {
      const runId = earlier(schedule, key)
      return runId === null ? skipped('missed', 'Nothing was open at that time.') : started(runId)
    }
    try {
      return started((await start(schedule, key, signal)).runId)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof AppError)) throw error
      // Changed since the run of that time was started: the start was answered, and the answer lost.
      if (error.code === 'idempotency_conflict') return started(runIdOf(error.data))
      if (BUSY.has(error.code)) return skipped(error.code, error.message)
      if (error.code === 'runtime_stopping' || (error.retryable && !isLate)) {
        log.info('A schedule is to be started again.', { error, scheduleId: schedule.id })
        return null
      }
      return { outcome: 'failed', runId: null, code: error.code, message: error.message }
    }
  }

  function earlier(schedule: Schedule, key: string): string | null {
    const { sessionId, prompt: text, mode } = schedule
    if (sessionId === null) return null
    try {
      return port.lookup({ sessionId, text, mode, key })
    } catch (error) {
      if (error instanceof AppError) return error.code === 'idempotency_conflict' ? runIdOf(error.data) : null
      throw error
    }
  }

  return {
    async fire(schedule, signal) {
      const dueAt = schedule.nextAt
      if (dueAt === null) return true
      const outcome = await attempt(schedule, dueAt, signal)
      if (outcome === null) return false
      const at = clock.nowMs()
      const next = nextTime(schedule.cron, schedule.timeZone, at)
      await store.writeTx(() => table.settle(schedule.id, dueAt, { ...outcome, at, dueAt }, next))
      changed()
      return true
    },
    async fireNow(schedule, signal) {
      const done = await start(schedule, null, signal)
      const at = clock.nowMs()
      await store.writeTx(() => table.setLast(schedule.id, { ...started(done.runId), at, dueAt: null }))
      changed()
      return done
    },
  }
}

const keyOf = (schedule: Schedule): string => `schedule:${schedule.id}`

const started = (runId: string | null): Outcome => ({ outcome: 'started', runId, code: null, message: null })

const skipped = (code: string, message: string): Outcome => ({ outcome: 'skipped', runId: null, code, message })

function runIdOf(data: unknown): string | null {
  if (typeof data !== 'object' || data === null || !('runId' in data)) return null
  return typeof data.runId === 'string' ? data.runId : null
}
