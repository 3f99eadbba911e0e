/** What is asked of agents by the clock. Due ones are started by the host that a person keeps open, each time once. */
import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { AppError } from '../../shared/errors.ts'
import type { RunState } from '../../shared/vocabulary.ts'
import { within } from '../platform/index.ts'
import type { Clock, Ids, Log, Store } from '../platform/types.ts'
import { createFirer } from './firing.ts'
import type { FiringPort } from './firing.ts'
import { createScheduleTable } from './store.ts'
import { dueTimes, nextTime } from './times.ts'
import type { Schedule, ScheduleFields } from './types.ts'

const MAX_SCHEDULES = 100
/** A wall clock that is set anew, and a machine that slept, are noticed within so long. */
const LOOK_MS = 60_000
/** A start that the moment refused (a database that is busy, no place among the runs) is tried again after so long. */
const AGAIN_MS = 30_000
/** So long a start that is under way may hold up the end. */
const STOP_MS = 1_000

export interface SchedulesDeps {
  clock: Clock
  ids: Pick<Ids, 'next'>
  log: Log
  store: Store
  /** What starts a run. */
  port: FiringPort
  /** Of this machine. */
  timeZone: string
}

export interface Schedules {
  all(): Schedule[]
  /** @throws AppError `schedule_not_found`. */
  get(id: string): Schedule
  /** @throws AppError `schedule_invalid`, `input_invalid`, `work_dir_missing`. */
  create(fields: Omit<ScheduleFields, 'timeZone'> & { timeZone?: string }): Promise<Schedule>
  /** @throws AppError `schedule_not_found`, `config_conflict` (`data`: `{ rev }`), `schedule_invalid`, `input_invalid`, `work_dir_missing`. */
  update(id: string, expectedRev: number, change: Partial<ScheduleFields>): Promise<Schedule>
  /** Its session stays. False: there was none. */
  delete(id: string): Promise<boolean>
  /** Starts it now, whatever the clock says. @throws AppError `schedule_not_found`, and as an admission. */
  run(id: string, signal: AbortSignal): Promise<{ sessionId: string; runId: string; state: RunState }>
  /** @throws AppError `schedule_invalid`. */
  times(cron: string, timeZone?: string): { times: number[]; timeZone: string }
  /** The places that the session's schedule names. */
  deliverTo(sessionId: string): readonly string[]
  /** Whether a schedule runs in this session. */
  isOf(sessionId: string): boolean
  executing(): boolean
  /** From now on this process starts what is due. */
  start(): void
  /** Starts nothing more; what is being started is waited for, 1 s at most. */
  stop(): Promise<void>
  onChange(listener: () => void): () => void
}

export function createSchedules(deps: SchedulesDeps): Schedules {
  const { clock, ids, store } = deps
  const log = deps.log.child({ system: 'schedules' })
  const table = createScheduleTable(store.db)
  const firer = createFirer({ clock, log, store, table, port: deps.port, changed })
  const listeners = new Set<() => void>()
  const halt = new AbortController()
  const underWay = new Map<string, Promise<void>>()
  const notBefore = new Map<string, number>()
  let executing = false
  let timer: Disposable | null = null

  function changed(): void {
    for (const listener of listeners) listener()
  }

  function look(): void {
    timer?.[Symbol.dispose]()
    timer = null
    if (!executing || halt.signal.aborted) return
    try {
      const now = clock.nowMs()
      for (const schedule of table.due(now)) {
        if (!underWay.has(schedule.id) && (notBefore.get(schedule.id) ?? 0) <= clock.monotonicMs()) begin(schedule)
      }
      const next = table.nextAt()
      if (next !== null) timer = clock.after(next <= now ? AGAIN_MS : Math.min(LOOK_MS, next - now), look)
    } catch (error) {
      log.error('The schedules could not be read.', { error })
      timer = clock.after(LOOK_MS, look)
    }
  }

  function begin(schedule: Schedule): void {
    const work = firer
      .fire(schedule, halt.signal)
      .then(
        (settled) => {
          if (settled) notBefore.delete(schedule.id)
          else notBefore.set(schedule.id, clock.monotonicMs() + AGAIN_MS)
        },
        (error: unknown) => {
          notBefore.set(schedule.id, clock.monotonicMs() + AGAIN_MS)
          if (!halt.signal.aborted) log.error('A schedule could not be started.', { error, scheduleId: schedule.id })
        },
      )
      .finally(() => {
        underWay.delete(schedule.id)
        look()
      })
    underWay.set(schedule.id, work)
  }

  function find(id: string): Schedule {
    const found = table.get(id)
    if (found !== null) return found
    throw new AppError('schedule_not_found', 'This schedule no longer exists.', { detail: id })
  }

  function check(fields: ScheduleFields, id: string | null): void {
    if (!isAbsolute(fields.workDir)) {
      throw new AppError('input_invalid', 'The folder is named from the root on.', { detail: fields.workDir })
    }
    const same = table.all().find(({ name }) => name.toLowerCase() === fields.name.toLowerCase())
    if (same !== undefined && same.id !== id) throw new AppError('input_invalid', 'Another schedule has this name.')
  }

  const nextOf = ({ enabled, cron, timeZone }: ScheduleFields, nowMs: number): number | null => {
    const next = nextTime(cron, timeZone, nowMs)
    if (next === null) throw new AppError('schedule_invalid', 'That time never comes.', { detail: cron })
    return enabled ? next : null
  }

  async function write<T>(work: () => T): Promise<T> {
    const result = await store.writeTx(work)
    changed()
    look()
    return result
  }

  return {
    all: table.all,
    get: find,
    async create(given) {
      await demandFolder(given.workDir)
      return write(() => {
        const fields: ScheduleFields = { ...given, timeZone: given.timeZone ?? deps.timeZone }
        check(fields, null)
        if (table.all().length >= MAX_SCHEDULES) {
          throw new AppError('input_invalid', `There are ${MAX_SCHEDULES} schedules already. Remove one first.`)
        }
        const at = clock.nowMs()
        const facts = { sessionId: null, last: null, createdAt: at, updatedAt: at }
        const schedule: Schedule = { ...fields, ...facts, id: ids.next(), rev: 1, nextAt: nextOf(fields, at) }
        table.insert(schedule)
        return schedule
      })
    },
    async update(id, expectedRev, change) {
      if (change.workDir !== undefined && change.workDir !== find(id).workDir) await demandFolder(change.workDir)
      return write(() => {
        const before = find(id)
        if (before.rev !== expectedRev) throw conflict(before.rev)
        const fields = { ...before, ...change }
        check(fields, id)
        const at = clock.nowMs()
        const moved = fields.agentId !== before.agentId || fields.workDir !== before.workDir
        const timed =
          fields.cron !== before.cron || fields.timeZone !== before.timeZone || fields.enabled !== before.enabled
        const next = {
          ...fields,
          sessionId: moved ? null : before.sessionId,
          nextAt: timed ? nextOf(fields, at) : before.nextAt,
          updatedAt: at,
        }
        if (!table.update(next)) throw conflict(find(id).rev)
        return find(id)
      })
    },
    delete: (id) => write(() => table.delete(id)),
    run: (id, signal) => firer.fireNow(find(id), AbortSignal.any([signal, halt.signal])),
    times: (cron, timeZone = deps.timeZone) => ({ times: dueTimes(cron, timeZone, clock.nowMs(), 5), timeZone }),
    deliverTo: (sessionId) => table.ofSession(sessionId)?.deliverTo ?? [],
    isOf: (sessionId) => table.ofSession(sessionId) !== null,
    executing: () => executing,
    start() {
      executing = true
      look()
      changed()
    },
    async stop() {
      halt.abort(new AppError('runtime_stopping', 'Wheelhouse is closing.'))
      timer?.[Symbol.dispose]()
      timer = null
      await within(clock, STOP_MS, Promise.all(underWay.values()))
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** A relative one is refused with the other fields. */
async function demandFolder(path: string): Promise<void> {
  if (!isAbsolute(path)) return
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) throw new AppError('work_dir_missing', 'This folder does not exist.', { detail: path })
}

function conflict(rev: number): AppError {
  return new AppError('config_conflict', 'This schedule was changed meanwhile. Look at it again.', { data: { rev } })
}
