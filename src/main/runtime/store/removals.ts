/** Folders that are to go: written by the transaction that lets go of them, struck out once they are gone. */
import { z } from 'zod'
import type { Database } from '../../platform/types.ts'

const Row = z.object({ id: z.string(), kind: z.enum(['input', 'artifact']), work_dir: z.string() })

export interface Removal {
  /** Of the input or the artifact; the folder's name. */
  id: string
  kind: 'input' | 'artifact'
  /** The session's, for an input; empty for an artifact. */
  workDir: string
}

export type RemovalTable = ReturnType<typeof createRemovalTable>

export function createRemovalTable(db: Database) {
  const addSql = db.prepare(
    `INSERT INTO removals (id, kind, work_dir, due_at) VALUES (@id, @kind, @workDir, @dueAt)
     ON CONFLICT (id) DO UPDATE SET due_at = excluded.due_at`,
  )
  const dueSql = db.prepare(
    'SELECT id, kind, work_dir FROM removals WHERE due_at <= @now AND id > @after ORDER BY id LIMIT @limit',
  )
  const getSql = db.prepare('SELECT id, kind, work_dir FROM removals WHERE id = ?')
  const strikeSql = db.prepare('DELETE FROM removals WHERE id = ?')
  const toRemoval = (raw: unknown): Removal => {
    const row = Row.parse(raw)
    return { id: row.id, kind: row.kind, workDir: row.work_dir }
  }
  return {
    /** `dueAt`: not to be touched before (wall clock). */
    add(removal: Removal, dueAt: number): void {
      addSql.run({ ...removal, dueAt })
    },
    get(id: string): Removal | null {
      const row = getSql.get(id)
      return row === undefined ? null : toRemoval(row)
    },
    due(query: { now: number; after: string; limit: number }): Removal[] {
      return dueSql.all(query).map(toRemoval)
    },
    strike(id: string): void {
      strikeSql.run(id)
    },
  }
}
