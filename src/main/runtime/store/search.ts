/** Full-text search over what was said, newest first, and over titles. */
import { z } from 'zod'
import type { Database } from '../../platform/types.ts'
import { Texts } from './json.ts'

const Row = z.object({
  n: z.number(),
  id: z.string(),
  session_id: z.string(),
  title: z.string(),
  turn_id: z.string().nullable(),
  run_id: z.string().nullable(),
  seq: z.number(),
  kind: z.enum(['user', 'assistant', 'tool', 'summary']),
  text: z.string(),
  created_at: z.number(),
})

export interface FoundEntry {
  /** Later entries have larger ones. */
  n: number
  entryId: string
  sessionId: string
  sessionTitle: string
  turnId: string | null
  runId: string | null
  seq: number
  kind: 'user' | 'assistant' | 'tool' | 'summary'
  text: string
  at: number
}

export type SearchTables = ReturnType<typeof createSearchTables>

export function createSearchTables(db: Database) {
  const entriesWhere = (more: string) =>
    db.prepare(
      `SELECT e.n, e.id, e.session_id, s.title, e.turn_id, e.run_id, e.seq, e.kind, json_extract(e.body, '$.text') AS text, e.created_at
       FROM entries_fts JOIN entries e ON e.n = entries_fts.rowid JOIN sessions s ON s.id = e.session_id
       WHERE entries_fts MATCH @match AND entries_fts.rowid < @before AND json_type(e.body, '$.text') = 'text'
         AND e.kind IN ('user', 'assistant', 'tool', 'summary') ${more}
       ORDER BY entries_fts.rowid DESC LIMIT @limit`,
    )
  const everywhereSql = entriesWhere('')
  // The plus keeps the index of the words in charge: what it found elsewhere is passed over before its entry is read.
  const inSessionSql = entriesWhere('AND +entries_fts.rowid IN (SELECT n FROM entries WHERE session_id = @sessionId)')
  const titlesSql = db
    .prepare(
      String.raw`SELECT id FROM sessions WHERE title LIKE '%' || @words || '%' ESCAPE '\' ORDER BY updated_at DESC, id DESC LIMIT @limit`,
    )
    .pluck()

  return {
    /** `match` is an expression of FTS5. Read as far as the caller goes. */
    *entries({
      sessionId,
      ...query
    }: {
      match: string
      before: number
      sessionId: string | null
      limit: number
    }): Generator<FoundEntry, void, undefined> {
      const found = sessionId === null ? everywhereSql.iterate(query) : inSessionSql.iterate({ ...query, sessionId })
      for (const raw of found) {
        const row = Row.parse(raw)
        yield {
          n: row.n,
          entryId: row.id,
          sessionId: row.session_id,
          sessionTitle: row.title,
          turnId: row.turn_id,
          runId: row.run_id,
          seq: row.seq,
          kind: row.kind,
          text: row.text,
          at: row.created_at,
        }
      }
    },
    /** Ids of sessions whose title holds these very words, newest first. */
    titles(words: string, limit: number): string[] {
      const escaped = words.replaceAll(/[\\%_]/g, String.raw`\$&`)
      return Texts.parse(titlesSql.all({ words: escaped, limit }))
    },
  }
}
