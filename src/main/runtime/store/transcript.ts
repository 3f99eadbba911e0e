/** Turns and entries: what was said and done, for people and for search, after the log is gone. */
import { z } from 'zod'
import type { TerminalState } from '../../../shared/vocabulary.ts'
import type { Database, Ids } from '../../platform/types.ts'
import type { SessionTable } from './sessions.ts'

export type EntryKind = 'turn_start' | 'user' | 'assistant' | 'tool' | 'summary' | 'title' | 'config' | 'turn_end'

export interface NewEntry {
  kind: EntryKind
  /** JSON of at most 1 MiB; its `text` is what search finds. */
  body: Record<string, unknown>
}

const Turn = z.object({ id: z.string(), run_id: z.string().nullable(), status: z.string(), start_seq: z.number() })

export type TranscriptTables = ReturnType<typeof createTranscriptTables>

export function createTranscriptTables(db: Database, sessions: SessionTable, ids: Ids) {
  const entrySql = db.prepare(
    `INSERT INTO entries (id, session_id, seq, turn_id, run_id, kind, body, created_at)
     VALUES (@id, @sessionId, @seq, @turnId, @runId, @kind, @body, @at)`,
  )
  const openSql = db.prepare(
    `INSERT INTO turns (id, session_id, intent_id, run_id, status, start_seq, started_at)
     VALUES (@id, @sessionId, @intentId, @runId, 'open', @startSeq, @at)`,
  )
  const closeSql = db.prepare(
    `UPDATE turns SET status = @status, end_seq = @endSeq, ended_at = @at WHERE id = @id AND status = 'open'`,
  )
  const ofRunSql = db.prepare('SELECT id, run_id, status, start_seq FROM turns WHERE run_id = ? LIMIT 1')
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
    closeTurn(turnId: string, status: TerminalState, endSeq: number, at: number): void {
      closeSql.run({ id: turnId, status, endSeq, at })
    },
    turnOfRun(runId: string): { id: string; open: boolean } | null {
      const raw = ofRunSql.get(runId)
      if (raw === undefined) return null
      const row = Turn.parse(raw)
      return { id: row.id, open: row.status === 'open' }
    },
    /** The id of the entry that holds the run's prompt. */
    promptEntry(runId: string): string | null {
      return z
        .string()
        .nullable()
        .parse(firstUserSql.get(runId) ?? null)
    },
  }
}
