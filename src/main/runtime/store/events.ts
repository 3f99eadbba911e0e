/** The append-only log, one per session. Numbers are given in the transaction that inserts, so their order is commit order. */
import { z } from 'zod'
import type { RunState } from '../../../shared/vocabulary.ts'
import type { EventData, EventType, SessionEvent } from '../../../shared/events.ts'
import type { Database } from '../../platform/types.ts'
import { MaybeCount, readObject } from './json.ts'
import type { SessionTable } from './sessions.ts'

/** An event that has no number yet. `text` is its data as it will be stored. */
export interface PendingEvent {
  runId: string | null
  type: EventType
  state: RunState | null
  data: Record<string, unknown>
  text: string
  dedupeKey: string | null
}

/** A STRICT table's own columns: read by the hundred thousand, so only the JSON is parsed. */
interface Columns {
  session_id: string
  seq: number
  run_id: string | null
  type: string
  state: RunState | null
  at: number
  data: string
}

function toEvent(raw: unknown): SessionEvent {
  const row = raw as Columns
  return {
    sessionId: row.session_id,
    seq: row.seq,
    runId: row.run_id,
    type: row.type,
    state: row.state,
    at: row.at,
    data: readObject(row.data, () => `run_events.data of ${row.session_id} ${row.seq}`),
  }
}

const ToolSteps = z.array(z.object({ id: z.string().nullable(), finished: z.number() }))
const Span = z.object({ first: z.number().nullable(), last: z.number().nullable() })

function take(rows: IterableIterator<unknown>, maxBytes: number): SessionEvent[] {
  const events: SessionEvent[] = []
  let bytes = 0
  for (const raw of rows) {
    const event = toEvent(raw)
    bytes += (raw as Columns).data.length
    if (events.length > 0 && bytes > maxBytes) break
    events.push(event)
  }
  return events
}

export type EventTable = ReturnType<typeof createEventTable>

export function createEventTable(db: Database, sessions: SessionTable) {
  const insertSql = db.prepare(
    `INSERT INTO run_events (session_id, seq, run_id, type, state, at, dedupe_key, data)
     VALUES (@sessionId, @seq, @runId, @type, @state, @at, @dedupeKey, @text)`,
  )
  const dedupeSql = db.prepare('SELECT 1 FROM run_events WHERE session_id = ? AND dedupe_key = ?').pluck()
  const byKeySql = db.prepare(
    'SELECT session_id, seq, run_id, type, state, at, data FROM run_events WHERE session_id = ? AND dedupe_key = ?',
  )
  const pageSql = db.prepare(
    `SELECT session_id, seq, run_id, type, state, at, data FROM run_events WHERE session_id = @sessionId AND seq > @afterSeq
     ORDER BY seq LIMIT @limit`,
  )
  const pageOfRunSql = db.prepare(
    `SELECT session_id, seq, run_id, type, state, at, data FROM run_events WHERE run_id = @runId AND seq > @afterSeq
     ORDER BY seq LIMIT @limit`,
  )
  const toolStepsSql = db.prepare(
    `SELECT json_extract(data, '$.toolCallId') AS id, type = 'tool_finished' AS finished FROM run_events
     WHERE run_id = @runId AND seq BETWEEN @from AND @to AND (type = 'tool_finished'
       OR (type IN ('tool_started', 'tool_updated') AND json_extract(data, '$.status') NOT IN ('pending', 'declined')))`,
  )
  const spanSql = db.prepare('SELECT min(seq) AS first, max(seq) AS last FROM run_events WHERE run_id = ?')
  const lastOfSql = db.prepare('SELECT max(seq) FROM run_events WHERE run_id = ?').pluck()
  const dropSql = db.prepare(
    `DELETE FROM run_events WHERE session_id = @sessionId AND seq IN
       (SELECT seq FROM run_events WHERE session_id = @sessionId AND seq <= @seq ORDER BY seq LIMIT @limit)`,
  )
  const floorSql = db.prepare(
    `UPDATE sessions SET event_floor = (SELECT ifnull(min(seq) - 1, last_event_seq) FROM run_events WHERE session_id = @sessionId)
     WHERE id = @sessionId`,
  )
  const headSql = db.prepare('SELECT last_event_seq AS head, event_floor AS floor FROM sessions WHERE id = ?')

  return {
    /** Writes those whose key is not there yet; answers them with their numbers, ascending and adjacent. */
    append(sessionId: string, events: readonly PendingEvent[], at: number): SessionEvent[] {
      const fresh = events.filter(({ dedupeKey }) => dedupeKey === null || !this.has(sessionId, dedupeKey))
      if (fresh.length === 0) return []
      const last = sessions.takeEventSeqs(sessionId, fresh.length)
      if (last === null) return []
      return fresh.map(({ runId, type, state, data, text, dedupeKey }, index) => {
        const seq = last - fresh.length + 1 + index
        insertSql.run({ sessionId, seq, runId, type, state, at, dedupeKey, text })
        return { sessionId, seq, runId, type, state, at, data }
      })
    },
    has(sessionId: string, dedupeKey: string): boolean {
      return dedupeSql.get(sessionId, dedupeKey) !== undefined
    },
    byKey(sessionId: string, dedupeKey: string): SessionEvent | null {
      const row = byKeySql.get(sessionId, dedupeKey)
      return row === undefined ? null : toEvent(row)
    },
    /** At most `limit` events and about `maxBytes` of data, one event at least. */
    page({
      maxBytes,
      ...query
    }: {
      sessionId: string
      afterSeq: number
      limit: number
      maxBytes: number
    }): SessionEvent[] {
      return take(pageSql.iterate(query), maxBytes)
    },
    /** As `page`, of one run. */
    pageOfRun({
      maxBytes,
      ...query
    }: {
      runId: string
      afterSeq: number
      limit: number
      maxBytes: number
    }): SessionEvent[] {
      return take(pageOfRunSql.iterate(query), maxBytes)
    },
    /** The number of the run's last event. */
    lastOf(runId: string): number | null {
      return MaybeCount.parse(lastOfSql.get(runId))
    },
    /** Cuts the log off at its beginning, up to `seq`, and raises the floor. Answers how many events went. */
    dropUpTo(sessionId: string, seq: number, limit: number): number {
      const { changes } = dropSql.run({ sessionId, seq, limit })
      if (changes > 0) floorSql.run({ sessionId })
      return changes
    },
    /** Tool calls of the run that began or ended between two numbers, both included. */
    toolSteps(query: { runId: string; from: number; to: number }): { id: string | null; finished: number }[] {
      return ToolSteps.parse(toolStepsSql.all(query))
    },
    /** The numbers of the run's first and last event. */
    spanOf(runId: string): { first: number; last: number } | null {
      const { first, last } = Span.parse(spanSql.get(runId))
      return first === null || last === null ? null : { first, last }
    },
    head(sessionId: string): { head: number; floor: number } | null {
      const row = headSql.get(sessionId)
      return row === undefined ? null : z.object({ head: z.number(), floor: z.number() }).parse(row)
    },
  }
}

/** Gives a literal its event's type, so that the compiler holds `data` to the schema. */
export type EventDraft = {
  [T in EventType]: { runId: string | null; type: T; state?: RunState; data: EventData<T>; dedupeKey?: string }
}[EventType]
