/** What a fork reads of its source and writes of its child, and which request made which child. */
import { z } from 'zod'
import type { Source } from '../../../shared/vocabulary.ts'
import type { Database } from '../../platform/types.ts'
import { Count, MaybeCount, Texts } from './json.ts'

const Turn = z.object({
  id: z.string(),
  status: z.string(),
  start_seq: z.number(),
  end_seq: z.number(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
})
const Entry = z.object({
  id: z.string(),
  seq: z.number(),
  turn_id: z.string().nullable(),
  kind: z.string(),
  body: z.string(),
  created_at: z.number(),
})
const Request = z.object({ fingerprint: z.string(), child_session_id: z.string() })
const Child = z.object({
  parent_id: z.string().nullable(),
  fork_kind: z.enum(['session', 'message']),
  fork_boundary_seq: z.number(),
  prefix_length: z.number(),
})

export interface ClosedTurn {
  id: string
  status: string
  startSeq: number
  endSeq: number
  startedAt: number
  endedAt: number | null
}

export interface ForkEntry {
  id: string
  seq: number
  turnId: string | null
  kind: string
  body: string
  createdAt: number
}

export interface ForkFacts {
  parentId: string | null
  forkKind: 'session' | 'message'
  boundarySeq: number
  prefixLength: number
}

export type ForkTables = ReturnType<typeof createForkTables>

export function createForkTables(db: Database) {
  const openTurnSql = db.prepare(`SELECT 1 FROM turns WHERE session_id = ? AND status = 'open'`).pluck()
  const turnsSql = db.prepare(
    `SELECT id, status, start_seq, end_seq, started_at, ended_at FROM turns
     WHERE session_id = ? AND status <> 'open' ORDER BY start_seq`,
  )
  const entriesSql = db.prepare(
    'SELECT id, seq, turn_id, kind, body, created_at FROM entries WHERE session_id = ? AND seq <= ? ORDER BY seq',
  )
  const nextSql = db
    .prepare(`SELECT min(seq) FROM entries WHERE session_id = ? AND seq > ? AND kind NOT IN ('title', 'config')`)
    .pluck()
  const lastSql = db.prepare('SELECT last_entry_seq FROM sessions WHERE id = ?').pluck()
  const titlesSql = db.prepare('SELECT title FROM sessions WHERE substr(title, 1, length(@start)) = @start').pluck()
  const childSql = db.prepare(
    `INSERT INTO sessions (id, title, title_by, agent_id, work_dir, extra_dirs, created_via, provider, model, mode, effort, sandbox,
       browser, web_search, last_entry_seq, parent_id, fork_kind, fork_boundary_seq, prefix_length, created_at, updated_at)
     SELECT @id, @title, title_by, agent_id, work_dir, extra_dirs, @createdVia, provider, model, mode, effort, sandbox,
       browser, web_search, @prefixLength, id, @forkKind, @boundarySeq, @prefixLength, @at, @at FROM sessions WHERE id = @sourceId`,
  )
  const turnSql = db.prepare(
    `INSERT INTO turns (id, session_id, status, start_seq, end_seq, started_at, ended_at)
     VALUES (@id, @sessionId, @status, @startSeq, @endSeq, @startedAt, @endedAt)`,
  )
  const entrySql = db.prepare(
    `INSERT INTO entries (id, session_id, seq, turn_id, kind, body, created_at)
     VALUES (@id, @sessionId, @seq, @turnId, @kind, @body, @createdAt)`,
  )
  const requestSql = db.prepare(
    'SELECT fingerprint, child_session_id FROM fork_requests WHERE source_session_id = ? AND request_hash = ?',
  )
  const rememberSql = db.prepare(
    `INSERT INTO fork_requests (source_session_id, request_hash, fingerprint, child_session_id, created_at)
     VALUES (@sourceId, @requestHash, @fingerprint, @childId, @at)`,
  )
  const factsSql = db.prepare(
    'SELECT parent_id, fork_kind, fork_boundary_seq, prefix_length FROM sessions WHERE id = ? AND fork_kind IS NOT NULL',
  )

  return {
    hasOpenTurn: (sessionId: string): boolean => openTurnSql.get(sessionId) !== undefined,
    /** Oldest first. */
    closedTurns(sessionId: string): ClosedTurn[] {
      return turnsSql.all(sessionId).map((raw) => {
        const row = Turn.parse(raw)
        return {
          id: row.id,
          status: row.status,
          startSeq: row.start_seq,
          endSeq: row.end_seq,
          startedAt: row.started_at,
          endedAt: row.ended_at,
        }
      })
    },
    /** Those up to `seq`, ascending. */
    entriesUpTo(sessionId: string, seq: number): ForkEntry[] {
      return entriesSql.all(sessionId, seq).map((raw) => {
        const row = Entry.parse(raw)
        return {
          id: row.id,
          seq: row.seq,
          turnId: row.turn_id,
          kind: row.kind,
          body: row.body,
          createdAt: row.created_at,
        }
      })
    },
    /** The last of the titles and configuration changes that follow `seq` without anything in between. */
    endOfFacts(sessionId: string, seq: number): number {
      const next = MaybeCount.parse(nextSql.get(sessionId, seq))
      return next === null ? Math.max(seq, Count.parse(lastSql.get(sessionId))) : next - 1
    },
    titlesLike: (start: string): string[] => Texts.parse(titlesSql.all({ start })),
    insertChild(child: {
      id: string
      sourceId: string
      title: string
      createdVia: Source
      forkKind: 'session' | 'message'
      boundarySeq: number
      prefixLength: number
      at: number
    }): void {
      childSql.run(child)
    },
    insertTurn(turn: ClosedTurn & { sessionId: string }): void {
      turnSql.run(turn)
    },
    insertEntry(entry: ForkEntry & { sessionId: string }): void {
      entrySql.run(entry)
    },
    request(sourceId: string, requestHash: string): { fingerprint: string; childId: string } | null {
      const raw = requestSql.get(sourceId, requestHash)
      if (raw === undefined) return null
      const row = Request.parse(raw)
      return { fingerprint: row.fingerprint, childId: row.child_session_id }
    },
    remember(request: {
      sourceId: string
      requestHash: string
      fingerprint: string
      childId: string
      at: number
    }): void {
      rememberSql.run(request)
    },
    /** Null: the session is no fork. */
    facts(sessionId: string): ForkFacts | null {
      const raw = factsSql.get(sessionId)
      if (raw === undefined) return null
      const row = Child.parse(raw)
      return {
        parentId: row.parent_id,
        forkKind: row.fork_kind,
        boundarySeq: row.fork_boundary_seq,
        prefixLength: row.prefix_length,
      }
    },
  }
}
