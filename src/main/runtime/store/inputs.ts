/** What people attached: a row each, kept as a tombstone when its file is gone, and which run used it in which order. */
import { z } from 'zod'
import type { Database } from '../../platform/types.ts'
import { MaterialKind } from '../materials/limits.ts'
import { Texts } from './json.ts'

const Row = z.object({
  id: z.string(),
  session_id: z.string(),
  run_id: z.string().nullable(),
  origin: z.string(),
  kind: MaterialKind,
  filename: z.string(),
  media_type: z.string(),
  bytes: z.number(),
  sha256: z.string(),
  relative_path: z.string(),
  status: z.enum(['prepared', 'attached', 'deleted', 'missing']),
  created_at: z.number(),
})
const COLUMNS = Object.keys(Row.shape).join(', ')

export interface InputRow {
  id: string
  sessionId: string
  /** The run that attached it first. */
  runId: string | null
  origin: string
  kind: MaterialKind
  filename: string
  mediaType: string
  bytes: number
  /** Hex. */
  sha256: string
  /** Below the work directory, `/`-separated. */
  relativePath: string
  /** `prepared`: an unsent draft; `deleted` and `missing` are tombstones. */
  status: 'prepared' | 'attached' | 'deleted' | 'missing'
  createdAt: number
}

export type NewInput = Omit<InputRow, 'runId' | 'status' | 'createdAt'> & { itemKey: string | null; at: number }

function toInput(raw: unknown): InputRow {
  const row = Row.parse(raw)
  return {
    id: row.id,
    sessionId: row.session_id,
    runId: row.run_id,
    origin: row.origin,
    kind: row.kind,
    filename: row.filename,
    mediaType: row.media_type,
    bytes: row.bytes,
    sha256: row.sha256,
    relativePath: row.relative_path,
    status: row.status,
    createdAt: row.created_at,
  }
}

export type InputTable = ReturnType<typeof createInputTable>

export function createInputTable(db: Database) {
  const getSql = db.prepare(`SELECT ${COLUMNS} FROM input_resources WHERE id = ?`)
  const byKeySql = db.prepare(`SELECT ${COLUMNS} FROM input_resources WHERE session_id = ? AND item_key = ?`)
  const ofRunSql = db.prepare(
    `SELECT ${COLUMNS.split(', ')
      .map((column) => `i.${column}`)
      .join(
        ', ',
      )} FROM run_inputs r JOIN input_resources i ON i.id = r.resource_id WHERE r.run_id = ? ORDER BY r.position`,
  )
  const keptSql = db
    .prepare(`SELECT id FROM input_resources WHERE session_id = ? AND status IN ('prepared', 'attached')`)
    .pluck()
  const agedSql = db.prepare(
    `SELECT ${COLUMNS} FROM input_resources WHERE status = 'prepared' AND created_at <= ? ORDER BY created_at LIMIT ?`,
  )
  const afterSql = db.prepare(
    `SELECT ${COLUMNS} FROM input_resources WHERE id > ? AND status IN ('prepared', 'attached') ORDER BY id LIMIT ?`,
  )
  const insertSql = db.prepare(
    `INSERT INTO input_resources (id, session_id, origin, item_key, kind, filename, media_type, bytes, sha256, relative_path, status,
       created_at, updated_at)
     VALUES (@id, @sessionId, @origin, @itemKey, @kind, @filename, @mediaType, @bytes, @sha256, @relativePath, 'prepared', @at, @at)
     ON CONFLICT (session_id, item_key) WHERE item_key IS NOT NULL DO NOTHING`,
  )
  const attachSql = db.prepare(
    `UPDATE input_resources SET status = 'attached', run_id = @runId, updated_at = @at WHERE id = @id AND status = 'prepared'`,
  )
  const settleSql = db.prepare(
    `UPDATE input_resources SET status = @to, updated_at = @at
     WHERE id = @id AND status IN (SELECT value FROM json_each(@from))`,
  )
  const useSql = db.prepare('INSERT INTO run_inputs (run_id, position, resource_id) VALUES (@runId, @position, @id)')

  return {
    get(id: string): InputRow | null {
      const row = getSql.get(id)
      return row === undefined ? null : toInput(row)
    },
    byItemKey(sessionId: string, itemKey: string): InputRow | null {
      const row = byKeySql.get(sessionId, itemKey)
      return row === undefined ? null : toInput(row)
    },
    /** In the order in which they were submitted. */
    ofRun(runId: string): InputRow[] {
      return ofRunSql.all(runId).map(toInput)
    },
    /** Ids of the session's inputs whose files are kept. */
    keptOf(sessionId: string): string[] {
      return Texts.parse(keptSql.all(sessionId))
    },
    /** Drafts made at or before `createdAt`, oldest first. */
    drafts(createdAt: number, limit: number): InputRow[] {
      return agedSql.all(createdAt, limit).map(toInput)
    },
    /** Those whose files are kept, by id, from `id` on. */
    keptAfter(id: string, limit: number): InputRow[] {
      return afterSql.all(id, limit).map(toInput)
    },
    /** False: the same item is there already. */
    insert(input: NewInput): boolean {
      return insertSql.run(input).changes === 1
    },
    /** False: it is no draft any more. */
    attach(id: string, runId: string, at: number): boolean {
      return attachSql.run({ id, runId, at }).changes === 1
    },
    use(runId: string, ids: readonly string[]): void {
      for (const [position, id] of ids.entries()) useSql.run({ runId, position, id })
    },
    settle(id: string, to: 'deleted' | 'missing', from: readonly InputRow['status'][], at: number): boolean {
      return settleSql.run({ id, to, from: JSON.stringify(from), at }).changes === 1
    },
  }
}
