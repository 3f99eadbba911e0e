/** Sessions that belong to a schedule or an outside conversation. Of the outside key only its hash is kept. */
import { z } from 'zod'
import type { Database } from '../../platform/types.ts'

const Row = z.object({ session_id: z.string(), source: z.enum(['cron', 'channel']), label: z.string() })

export interface BindingRow {
  sessionId: string
  source: 'cron' | 'channel'
  label: string
}

export type BindingTable = ReturnType<typeof createBindingTable>

export function createBindingTable(db: Database) {
  const ofSql = db.prepare('SELECT session_id, source, label FROM session_bindings WHERE session_id = ?')
  const byKeySql = db.prepare(
    'SELECT session_id, source, label FROM session_bindings WHERE source = ? AND external_key_hash = ?',
  )
  const insertSql = db.prepare(
    `INSERT INTO session_bindings (session_id, source, external_key_hash, label, created_at)
     VALUES (@sessionId, @source, @keyHash, @label, @at)`,
  )
  const deleteSql = db.prepare('DELETE FROM session_bindings WHERE session_id = ?')
  const toBinding = (raw: unknown): BindingRow | null => {
    if (raw === undefined) return null
    const { session_id: sessionId, source, label } = Row.parse(raw)
    return { sessionId, source, label }
  }
  return {
    of: (sessionId: string): BindingRow | null => toBinding(ofSql.get(sessionId)),
    byKey: (source: BindingRow['source'], keyHash: string): BindingRow | null =>
      toBinding(byKeySql.get(source, keyHash)),
    insert(binding: BindingRow & { keyHash: string; at: number }): void {
      insertSql.run(binding)
    },
    delete(sessionId: string): boolean {
      return deleteSql.run(sessionId).changes === 1
    },
  }
}
