/** Turns and entries: what was said and done, for people and for search, after the log is gone. */
import { z } from 'zod'
import type { TerminalState } from '../../../shared/vocabulary.ts'
import type { Database, Ids } from '../../platform/types.ts'
import type { SessionTable } from './sessions.ts'
import { MaybeText } from './json.ts'

export type EntryKind = 'turn_start' | 'user' | 'assistant' | 'tool' | 'summary' | 'title' | 'config' | 'turn_end'

export interface NewEntry {
  kind: EntryKind
  /** JSON of at most 1 MiB; its `text` is what search finds. */
  body: Record<string, unknown>
}

const Message = z.object({ id: z.string(), kind: z.string(), body: z.string() })
const Turn = z.object({ id: z.string(), run_id: z.string().nullable(), status: z.string(), start_seq: z.number() })
const WholeTurn = z.object({
  id: z.string(),
  run_id: z.string().nullable(),
  intent_id: z.string().nullable(),
  status: z.enum(['open', 'completed', 'incomplete', 'failed', 'cancelled', 'timed_out']),
  start_seq: z.number(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
})
const Entry = z.object({ id: z.string(), seq: z.number(), kind: z.string(), body: z.string(), created_at: z.number() })

export interface TurnRow {
  id: string
  /** Null: the run is gone, or the turn was taken over from another session. */
  runId: string | null
  intentId: string | null
  status: TerminalState | 'open'
  startSeq: number
  startedAt: number
  endedAt: number | null
}

export interface EntryRow {
  id: string
  seq: number
  kind: string
  body: string
  createdAt: number
}

function toTurn(raw: unknown): TurnRow {
  const row = WholeTurn.parse(raw)
  return {
    id: row.id,
    runId: row.run_id,
    intentId: row.intent_id,
    status: row.status,
    startSeq: row.start_seq,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  }
}

export type TranscriptTables = ReturnType<typeof createTranscriptTables>

export function createTranscriptTables(db: Database, sessions: SessionTable, ids: Ids) {
  const entrySql = db.prepare(
    `INSERT INTO entries (id, session_id, seq, turn_id, run_id, kind, body, created_at)
     VALUES (@id, @sessionId, @seq, @turnId, @runId, @kind, @body, @at)`,
  )
  const dropSql = db.prepare(
    `DELETE FROM entries WHERE session_id = @sessionId AND seq IN
       (SELECT seq FROM entries WHERE session_id = @sessionId ORDER BY seq LIMIT @limit)`,
  )
  const openSql = db.prepare(
    `INSERT INTO turns (id, session_id, intent_id, run_id, status, start_seq, started_at)
     VALUES (@id, @sessionId, @intentId, @runId, 'open', @startSeq, @at)`,
  )
  const closeSql = db.prepare(
    `UPDATE turns SET status = @status, end_seq = @endSeq, ended_at = @at WHERE id = @id AND status = 'open'`,
  )
  const reopenSql = db.prepare(
    `UPDATE turns SET status = 'open', end_seq = NULL, ended_at = NULL WHERE run_id = ? AND status <> 'open'`,
  )
  const ofRunSql = db.prepare('SELECT id, run_id, status, start_seq FROM turns WHERE run_id = ? LIMIT 1')
  const messagesSql = db.prepare(
    `SELECT e.id, e.kind, e.body FROM entries e LEFT JOIN turns t ON t.id = e.turn_id
     WHERE e.session_id = ? AND e.kind IN ('user', 'assistant', 'summary') AND ifnull(t.status, '') <> 'open' ORDER BY e.seq DESC`,
  )
  const turnColumns = Object.keys(WholeTurn.shape).join(', ')
  const turnsSql = db.prepare(
    `SELECT ${turnColumns} FROM turns WHERE session_id = @sessionId AND (@before IS NULL OR start_seq < @before)
     ORDER BY start_seq DESC LIMIT @limit`,
  )
  const turnSql = db.prepare(
    `SELECT ${turnColumns} FROM turns WHERE session_id = @sessionId AND (id = @id OR run_id = @id)`,
  )
  const ofTurnSql = db.prepare('SELECT id, seq, kind, body, created_at FROM entries WHERE turn_id = ? ORDER BY seq')
  const firstUserSql = db
    .prepare(`SELECT id FROM entries WHERE run_id = ? AND kind = 'user' ORDER BY seq LIMIT 1`)
    .pluck()

  function append(
    owner: { sessionId: string; turnId: string | null; runId: string | null },
    entries: readonly NewEntry[],
    at: number,
  ): { id: string; seq: number }[] {
    const last = sessions.takeEntrySeqs(owner.sessionId, entries.length) ?? 0
    return entries.map((entry, index) => {
      const row = { id: ids.next(), seq: last - entries.length + 1 + index }
      entrySql.run({ ...owner, ...row, kind: entry.kind, body: JSON.stringify(entry.body), at })
      return row
    })
  }

  return {
    append,
    /** Opens a turn and writes its first entries, the first of them at its start. */
    openTurn(
      turn: { id: string; sessionId: string; intentId: string; runId: string },
      entries: readonly NewEntry[],
      at: number,
    ): { id: string; seq: number }[] {
      const last = sessions.takeEntrySeqs(turn.sessionId, 0) ?? 0
      openSql.run({ ...turn, startSeq: last + 1, at })
      return append({ sessionId: turn.sessionId, turnId: turn.id, runId: turn.runId }, entries, at)
    },
    /** The first entries of a session that is being deleted. Answers how many went. */
    drop(sessionId: string, limit: number): number {
      return dropSql.run({ sessionId, limit }).changes
    },
    /** Newest first; `before` is the number of a turn's first entry. */
    turns(query: { sessionId: string; before: number | null; limit: number }): TurnRow[] {
      return turnsSql.all(query).map(toTurn)
    },
    /** By its own id or by its run's. */
    turn(sessionId: string, id: string): TurnRow | null {
      const row = turnSql.get({ sessionId, id })
      return row === undefined ? null : toTurn(row)
    },
    entriesOf(turnId: string): EntryRow[] {
      return ofTurnSql.all(turnId).map((raw) => {
        const { created_at: createdAt, ...row } = Entry.parse(raw)
        return { ...row, createdAt }
      })
    },
    /** What was said in turns that have ended, newest first; read as far as the caller goes. */
    *newestMessages(sessionId: string): Generator<{ id: string; kind: string; body: string }> {
      for (const raw of messagesSql.iterate(sessionId)) yield Message.parse(raw)
    },
    closeTurn(turnId: string, status: TerminalState, endSeq: number, at: number): void {
      closeSql.run({ id: turnId, status, endSeq, at })
    },
    reopenTurn(runId: string): void {
      reopenSql.run(runId)
    },
    turnOfRun(runId: string): { id: string; open: boolean } | null {
      const raw = ofRunSql.get(runId)
      if (raw === undefined) return null
      const row = Turn.parse(raw)
      return { id: row.id, open: row.status === 'open' }
    },
    /** The id of the entry that holds the run's prompt. */
    promptEntry(runId: string): string | null {
      return MaybeText.parse(firstUserSql.get(runId) ?? null)
    },
  }
}
