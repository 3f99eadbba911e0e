/** What a person has typed and not sent: one per session, changed only by who saw its newest revision. */
import { z } from 'zod'
import type { Database } from '../../platform/types.ts'
import type { DraftRow } from '../types.ts'
import { flag, readJson, Texts } from './json.ts'

const Row = z.object({ rev: z.number(), text: z.string(), input_ids: z.string(), queued: z.number() })

export type DraftTable = ReturnType<typeof createDraftTable>

export function createDraftTable(db: Database) {
  const getSql = db.prepare('SELECT rev, text, input_ids, queued FROM drafts WHERE session_id = ?')
  const insertSql = db.prepare(
    `INSERT INTO drafts (session_id, rev, text, input_ids, queued, updated_at)
     VALUES (@sessionId, 1, @text, @inputIds, @queued, @at) ON CONFLICT (session_id) DO NOTHING`,
  )
  const updateSql = db.prepare(
    `UPDATE drafts SET rev = rev + 1, text = @text, input_ids = @inputIds, queued = @queued, updated_at = @at
     WHERE session_id = @sessionId AND rev = @expectedRev`,
  )

  return {
    get(sessionId: string): DraftRow | null {
      const raw = getSql.get(sessionId)
      if (raw === undefined) return null
      const row = Row.parse(raw)
      return {
        rev: row.rev,
        text: row.text,
        inputIds: readJson(Texts, row.input_ids, `drafts.input_ids of ${sessionId}`),
        queued: row.queued === 1,
      }
    },
    /** `expectedRev` 0: there is none yet. False: somebody changed it since. */
    put(sessionId: string, draft: Omit<DraftRow, 'rev'>, expectedRev: number, at: number): boolean {
      const row = {
        sessionId,
        text: draft.text,
        inputIds: JSON.stringify(draft.inputIds),
        queued: flag(draft.queued),
        expectedRev,
        at,
      }
      return (expectedRev === 0 ? insertSql.run(row) : updateSql.run(row)).changes === 1
    },
  }
}
