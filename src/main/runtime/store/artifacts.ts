/** What agents published: copies in private storage. A status only moves forward. */
import { z } from 'zod'
import type { Database } from '../../platform/types.ts'
import { MaterialKind } from '../materials/limits.ts'
import { Texts } from './json.ts'

const Row = z.object({
  id: z.string(),
  session_id: z.string(),
  run_id: z.string().nullable(),
  kind: MaterialKind,
  filename: z.string(),
  media_type: z.string(),
  bytes: z.number(),
  sha256: z.string(),
  status: z.enum(['accepted', 'generated', 'expired']),
  created_at: z.number(),
  expires_at: z.number(),
})
const COLUMNS = Object.keys(Row.shape).join(', ')

export interface ArtifactRow {
  id: string
  sessionId: string
  runId: string | null
  kind: MaterialKind
  filename: string
  mediaType: string
  bytes: number
  /** Hex. */
  sha256: string
  status: 'accepted' | 'generated' | 'expired'
  createdAt: number
  expiresAt: number
}

export type NewArtifact = Omit<ArtifactRow, 'status'> & { runId: string; origin: string; storageKey: string }

function toArtifact(raw: unknown): ArtifactRow {
  const row = Row.parse(raw)
  return {
    id: row.id,
    sessionId: row.session_id,
    runId: row.run_id,
    kind: row.kind,
    filename: row.filename,
    mediaType: row.media_type,
    bytes: row.bytes,
    sha256: row.sha256,
    status: row.status,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}

export type ArtifactTable = ReturnType<typeof createArtifactTable>

export function createArtifactTable(db: Database) {
  const getSql = db.prepare(`SELECT ${COLUMNS} FROM attachments WHERE id = ?`)
  const ofRunSql = db.prepare(`SELECT ${COLUMNS} FROM attachments WHERE run_id = ? ORDER BY rowid`)
  const ofSessionSql = db.prepare('SELECT id FROM attachments WHERE session_id = ?').pluck()
  const pastSql = db.prepare(`SELECT id FROM attachments WHERE status <> 'expired' AND expires_at <= ? LIMIT ?`).pluck()
  const insertSql = db.prepare(
    `INSERT INTO attachments (id, session_id, run_id, origin, kind, filename, media_type, bytes, sha256, storage_key, status, created_at,
       expires_at)
     VALUES (@id, @sessionId, @runId, @origin, @kind, @filename, @mediaType, @bytes, @sha256, @storageKey, 'generated', @createdAt,
       @expiresAt)`,
  )
  const expireSql = db.prepare(`UPDATE attachments SET status = 'expired' WHERE id = ?`)

  return {
    get(id: string): ArtifactRow | null {
      const row = getSql.get(id)
      return row === undefined ? null : toArtifact(row)
    },
    /** In the order of their publication. */
    ofRun(runId: string): ArtifactRow[] {
      return ofRunSql.all(runId).map(toArtifact)
    },
    idsOf: (sessionId: string): string[] => Texts.parse(ofSessionSql.all(sessionId)),
    /** Ids of those whose time is over. */
    past: (now: number, limit: number): string[] => Texts.parse(pastSql.all(now, limit)),
    insert(artifact: NewArtifact): void {
      insertSql.run(artifact)
    },
    expire(id: string): void {
      expireSql.run(id)
    },
  }
}
