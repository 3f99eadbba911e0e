/** The schedules table. */
import { z } from 'zod'
import { AgentId, RuntimeChoice } from '../../shared/vocabulary.ts'
import type { Database } from '../platform/types.ts'
import { LastTime } from './types.ts'
import type { Schedule } from './types.ts'

const json = <T extends z.ZodType>(schema: T) =>
  z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text)
      } catch {
        context.addIssue({ code: 'custom', message: 'is no JSON' })
        return z.NEVER
      }
    })
    .pipe(schema)

const Row = z.object({
  id: z.string(),
  name: z.string(),
  cron: z.string(),
  time_zone: z.string(),
  agent_id: AgentId,
  work_dir: z.string(),
  mode: z.enum(['plan', 'agent', 'yolo']),
  choice: json(RuntimeChoice).nullable(),
  prompt: z.string(),
  deliver_to: json(z.array(z.string())),
  catch_up: z.number(),
  enabled: z.number(),
  rev: z.number(),
  session_id: z.string().nullable(),
  next_at: z.number().nullable(),
  last: json(LastTime).nullable(),
  created_at: z.number(),
  updated_at: z.number(),
})

function toSchedule(raw: unknown): Schedule {
  const row = Row.parse(raw)
  return {
    id: row.id,
    name: row.name,
    cron: row.cron,
    timeZone: row.time_zone,
    agentId: row.agent_id,
    workDir: row.work_dir,
    mode: row.mode,
    choice: row.choice,
    prompt: row.prompt,
    deliverTo: row.deliver_to,
    catchUp: row.catch_up === 1,
    enabled: row.enabled === 1,
    rev: row.rev,
    sessionId: row.session_id,
    nextAt: row.next_at,
    last: row.last,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export type ScheduleTable = ReturnType<typeof createScheduleTable>

export function createScheduleTable(db: Database) {
  const insertSql = db.prepare(
    `INSERT INTO schedules (id, name, cron, time_zone, agent_id, work_dir, mode, choice, prompt, deliver_to, catch_up, enabled, rev,
       session_id, next_at, last, created_at, updated_at)
     VALUES (@id, @name, @cron, @timeZone, @agentId, @workDir, @mode, @choice, @prompt, @deliverTo, @catchUp, @enabled, @rev,
       @sessionId, @nextAt, @last, @createdAt, @updatedAt)`,
  )
  const updateSql = db.prepare(
    `UPDATE schedules SET name = @name, cron = @cron, time_zone = @timeZone, agent_id = @agentId, work_dir = @workDir, mode = @mode,
       choice = @choice, prompt = @prompt, deliver_to = @deliverTo, catch_up = @catchUp, enabled = @enabled, rev = rev + 1,
       session_id = @sessionId, next_at = @nextAt, updated_at = @updatedAt
     WHERE id = @id AND rev = @rev`,
  )
  const deleteSql = db.prepare('DELETE FROM schedules WHERE id = ?')
  const getSql = db.prepare('SELECT * FROM schedules WHERE id = ?')
  const allSql = db.prepare('SELECT * FROM schedules ORDER BY name COLLATE NOCASE, id')
  const dueSql = db.prepare('SELECT * FROM schedules WHERE enabled = 1 AND next_at <= ? ORDER BY next_at, id')
  const nextSql = db.prepare('SELECT min(next_at) FROM schedules WHERE enabled = 1 AND next_at IS NOT NULL').pluck()
  const ofSessionSql = db.prepare('SELECT * FROM schedules WHERE session_id = ?')
  const sessionSql = db.prepare('UPDATE schedules SET session_id = @sessionId WHERE id = @id')
  const settleSql = db.prepare(
    'UPDATE schedules SET last = @last, next_at = @nextAt WHERE id = @id AND next_at = @dueAt AND enabled = 1',
  )
  const lastSql = db.prepare('UPDATE schedules SET last = @last WHERE id = @id')

  const columns = (schedule: Schedule) => ({
    ...schedule,
    choice: schedule.choice === null ? null : JSON.stringify(schedule.choice),
    deliverTo: JSON.stringify(schedule.deliverTo),
    catchUp: Number(schedule.catchUp),
    enabled: Number(schedule.enabled),
    last: schedule.last === null ? null : JSON.stringify(schedule.last),
  })
  const one = (raw: unknown): Schedule | null => (raw === undefined ? null : toSchedule(raw))

  return {
    insert(schedule: Schedule): void {
      insertSql.run(columns(schedule))
    },
    /** False: another change came first. The row gets the next revision. */
    update: (schedule: Schedule): boolean => updateSql.run(columns(schedule)).changes === 1,
    delete: (id: string): boolean => deleteSql.run(id).changes === 1,
    get: (id: string): Schedule | null => one(getSql.get(id)),
    /** By name. */
    all: (): Schedule[] => allSql.all().map(toSchedule),
    /** The one that has waited longest first. */
    due: (nowMs: number): Schedule[] => dueSql.all(nowMs).map(toSchedule),
    nextAt: (): number | null => z.number().nullable().parse(nextSql.get()),
    ofSession: (sessionId: string): Schedule | null => one(ofSessionSql.get(sessionId)),
    setSession(id: string, sessionId: string): void {
      sessionSql.run({ id, sessionId })
    },
    /** What became of the time that was due, and the next one. False: it was settled, changed or switched off meanwhile. */
    settle(id: string, dueAt: number, last: LastTime, nextAt: number | null): boolean {
      return settleSql.run({ id, dueAt, last: JSON.stringify(last), nextAt }).changes === 1
    },
    setLast(id: string, last: LastTime): void {
      lastSql.run({ id, last: JSON.stringify(last) })
    },
  }
}
