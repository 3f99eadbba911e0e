/** The sessions table: configuration, roots, title, and the counters that number a session's events and entries. */
import { z } from 'zod'
import { AgentId, Effort, Mode, Source } from '../../../shared/vocabulary.ts'
import type { RuntimeChoice } from '../../../shared/vocabulary.ts'
import type { Database } from '../../platform/types.ts'
import type { SessionRow } from '../types.ts'
import { Count, flag, MaybeCount, MaybeText, readable, readJson, Texts } from './json.ts'

const Row = z.object({
  id: z.string(),
  title: z.string(),
  title_by: z.enum(['person', 'agent', 'prompt']).nullable(),
  agent_id: AgentId,
  work_dir: z.string(),
  extra_dirs: z.string(),
  created_via: Source,
  policy_source: z.enum(['cron', 'channel']).nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  mode: Mode.nullable(),
  effort: Effort,
  sandbox: z.number(),
  config_rev: z.number(),
  last_event_seq: z.number(),
  event_floor: z.number(),
  parent_id: z.string().nullable(),
  created_at: z.number(),
  updated_at: z.number(),
  archived_at: z.number().nullable(),
})

function toSession(raw: unknown): SessionRow {
  const row = Row.parse(raw)
  return {
    id: row.id,
    title: row.title,
    titleBy: row.title_by,
    agentId: row.agent_id,
    workDir: row.work_dir,
    extraDirs: readJson(Texts, row.extra_dirs, `sessions.extra_dirs of ${row.id}`),
    createdVia: row.created_via,
    policySource: row.policy_source,
    choice: { connectionId: row.provider, modelId: row.model, effort: row.effort },
    mode: row.mode,
    sandbox: row.sandbox === 1,
    rev: row.config_rev,
    headSeq: row.last_event_seq,
    floorSeq: row.event_floor,
    parentId: row.parent_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
  }
}

export interface NewSession {
  id: string
  title: string
  agentId: AgentId
  workDir: string
  extraDirs: readonly string[]
  createdVia: Source
  choice: RuntimeChoice
  mode: Mode | null
  sandbox: boolean
  policySource: 'cron' | 'channel' | null
  at: number
}

export type SessionTable = ReturnType<typeof createSessionTable>

export function createSessionTable(db: Database) {
  const getSql = db.prepare('SELECT * FROM sessions WHERE id = ?')
  const listSql = db.prepare(
    `SELECT * FROM sessions WHERE (archived_at IS NOT NULL) = @archived AND (@workDir IS NULL OR work_dir = @workDir)
     ORDER BY updated_at DESC, id DESC LIMIT @limit OFFSET @offset`,
  )
  const countSql = db
    .prepare(
      `SELECT count(*) FROM sessions WHERE (archived_at IS NOT NULL) = @archived AND (@workDir IS NULL OR work_dir = @workDir)`,
    )
    .pluck()
  const lastEntrySql = db.prepare('SELECT last_entry_seq FROM sessions WHERE id = ?').pluck()
  const nextIdSql = db.prepare('SELECT id FROM sessions WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?').pluck()
  const insertSql = db.prepare(
    `INSERT INTO sessions (id, title, title_by, agent_id, work_dir, extra_dirs, created_via, policy_source, provider, model, mode, effort, sandbox,
       created_at, updated_at)
     VALUES (@id, @title, @titleBy, @agentId, @workDir, @extraDirs, @createdVia, @policySource, @provider, @model, @mode, @effort, @sandbox, @at, @at)
     ON CONFLICT (id) DO NOTHING`,
  )
  const eventSeqSql = db
    .prepare('UPDATE sessions SET last_event_seq = last_event_seq + ? WHERE id = ? RETURNING last_event_seq')
    .pluck()
  const entrySeqSql = db
    .prepare('UPDATE sessions SET last_entry_seq = last_entry_seq + ? WHERE id = ? RETURNING last_entry_seq')
    .pluck()
  const touchSql = db.prepare('UPDATE sessions SET updated_at = max(updated_at, ?) WHERE id = ?')
  const titleSql = db.prepare('UPDATE sessions SET title = @title, title_by = @by WHERE id = @id')
  const archiveSql = db.prepare('UPDATE sessions SET archived_at = @archivedAt, updated_at = @at WHERE id = @id')
  const configureSql = db
    .prepare(
      `UPDATE sessions SET provider = @provider, model = @model, effort = @effort, mode = @mode, sandbox = @sandbox,
         extra_dirs = @extraDirs, config_rev = config_rev + 1, updated_at = @at
       WHERE id = @id AND config_rev = @expectedRev RETURNING config_rev`,
    )
    .pluck()
  const deleteSql = db.prepare('DELETE FROM sessions WHERE id = ?')

  return {
    get(id: string): SessionRow | null {
      const row = getSql.get(id)
      return row === undefined ? null : toSession(row)
    },
    /** Newest first; without those that cannot be read. */
    list(query: { archived: boolean; workDir: string | null; limit: number; offset: number }): SessionRow[] {
      return readable(listSql.all({ ...query, archived: flag(query.archived) }), toSession)
    },
    count(query: { archived: boolean; workDir: string | null }): number {
      return Count.parse(countSql.get({ ...query, archived: flag(query.archived) }))
    },
    /** The last of the `limit` ids after this one, or null: there are fewer. */
    idAfter(id: string, limit: number): string | null {
      return MaybeText.parse(nextIdSql.get(id, limit - 1) ?? null)
    },
    /** False: there is one with this id. */
    insert(session: NewSession): boolean {
      const { choice, extraDirs, sandbox, ...rest } = session
      const row = {
        ...rest,
        titleBy: session.title === '' ? null : 'person',
        extraDirs: JSON.stringify(extraDirs),
        provider: choice.connectionId,
        model: choice.modelId,
        effort: choice.effort,
        sandbox: flag(sandbox),
      }
      return insertSql.run(row).changes === 1
    },
    /** The last of `count` fresh event numbers, or null when the session is gone. */
    takeEventSeqs(id: string, count: number): number | null {
      return MaybeCount.parse(eventSeqSql.get(count, id) ?? null)
    },
    takeEntrySeqs(id: string, count: number): number | null {
      return MaybeCount.parse(entrySeqSql.get(count, id) ?? null)
    },
    /** The number of the newest entry; 0: there is none. */
    lastEntry(id: string): number {
      return Count.parse(lastEntrySql.get(id) ?? 0)
    },
    touch(id: string, at: number): void {
      touchSql.run(at, id)
    },
    setTitle(id: string, title: string, by: 'person' | 'agent' | 'prompt'): void {
      titleSql.run({ id, title, by })
    },
    setArchived(id: string, archivedAt: number | null, at: number): void {
      archiveSql.run({ id, archivedAt, at })
    },
    /** The next revision, or null: somebody changed it since. */
    configure(
      session: Pick<SessionRow, 'id' | 'choice' | 'mode' | 'sandbox' | 'extraDirs'>,
      expectedRev: number,
      at: number,
    ): number | null {
      const rev = configureSql.get({
        id: session.id,
        provider: session.choice.connectionId,
        model: session.choice.modelId,
        effort: session.choice.effort,
        mode: session.mode,
        sandbox: flag(session.sandbox),
        extraDirs: JSON.stringify(session.extraDirs),
        expectedRev,
        at,
      })
      return MaybeCount.parse(rev ?? null)
    },
    delete(id: string): void {
      deleteSql.run(id)
    },
  }
}
