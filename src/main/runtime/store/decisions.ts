/** The decisions table. A row settles once: the update names the state it changes, so of two answers one wins. */
import { z } from 'zod'
import { Actor, Answer, AnswerOption, DecisionAction, Risk, ToolKind } from '../../../shared/vocabulary.ts'
import type { Database } from '../../platform/types.ts'
import type { DecisionQuery, DecisionRow } from '../types.ts'
import { Count, readable, readJson } from './json.ts'

const Payload = z.object({
  toolCallId: z.string(),
  tool: z.string(),
  toolKind: ToolKind,
  title: z.string(),
  action: DecisionAction,
  complete: z.boolean(),
  wholeBytes: z.number().nullable(),
  riskReason: z.string(),
  /** Rows of before there were rules have none. */
  ruleId: z.string().nullable().default(null),
  options: z.array(AnswerOption),
  paths: z.array(z.string()),
})

const Row = z.object({
  id: z.string(),
  session_id: z.string(),
  run_id: z.string(),
  kind: z.enum(['approval', 'question']),
  worker_request: z.string(),
  risk: Risk.nullable(),
  status: z.enum(['pending', 'resolved', 'cancelled', 'timed_out', 'withdrawn']),
  value: z.string(),
  payload: z.string(),
  blob: z.string().nullable(),
  answered_by: z.string().nullable(),
  created_at: z.number(),
  expires_at: z.number().nullable(),
  settled_at: z.number().nullable(),
  applied_at: z.number().nullable(),
  told: z.enum(['sent', 'withdrawn', 'lost']).nullable(),
})

function toDecision(raw: unknown): DecisionRow {
  const row = Row.parse(raw)
  return {
    ...readJson(Payload, row.payload, `decisions.payload of ${row.id}`),
    id: row.id,
    sessionId: row.session_id,
    runId: row.run_id,
    kind: row.kind,
    requestId: row.worker_request,
    blob: row.blob,
    risk: row.risk,
    status: row.status,
    answer: row.value === '' ? null : readJson(Answer, row.value, `decisions.value of ${row.id}`),
    by: row.answered_by === null ? null : readJson(Actor, row.answered_by, `decisions.answered_by of ${row.id}`),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    settledAt: row.settled_at,
    told: row.told,
    appliedAt: row.applied_at,
  }
}

export interface Settlement {
  status: Exclude<DecisionRow['status'], 'pending'>
  answer: Answer | null
  by: Actor
}

export type DecisionTable = ReturnType<typeof createDecisionTable>

export function createDecisionTable(db: Database) {
  const insertSql = db.prepare(
    `INSERT INTO decisions (id, session_id, run_id, kind, worker_request, risk, status, value, payload, blob, answered_by, created_at,
       expires_at, settled_at)
     VALUES (@id, @sessionId, @runId, @kind, @requestId, @risk, @status, @value, @payload, @blob, @answeredBy, @createdAt, @expiresAt,
       @settledAt)`,
  )
  const getSql = db.prepare('SELECT * FROM decisions WHERE id = ?')
  const byRequestSql = db.prepare('SELECT * FROM decisions WHERE run_id = ? AND worker_request = ?')
  const pendingOfRunSql = db.prepare(
    `SELECT * FROM decisions WHERE run_id = ? AND status = 'pending' ORDER BY created_at, id`,
  )
  // Named, because it holds nothing but what is pending: any other index is walked through everything that was ever asked.
  const PENDING = `SELECT * FROM decisions INDEXED BY decisions_pending WHERE status = 'pending'`
  const pendingSql = db.prepare(`${PENDING} ORDER BY created_at, id`)
  const pendingOfSessionSql = db.prepare(`${PENDING} AND session_id = ? ORDER BY created_at, id`)
  const ofRunSql = db.prepare('SELECT * FROM decisions WHERE run_id = ? ORDER BY created_at, id')
  const option = `json_extract(nullif(value, ''), '$.option')`
  const CONDITIONS: Readonly<Record<Exclude<keyof DecisionQuery, 'limit' | 'outcome' | 'by'>, string>> = {
    sessionId: 'session_id = @sessionId',
    runId: 'run_id = @runId',
    risk: 'risk = @risk',
    before: '(created_at, id) < (SELECT created_at, id FROM decisions WHERE id = @before)',
  }
  const OUTCOMES: Readonly<Record<NonNullable<DecisionQuery['outcome']>, string>> = {
    pending: `status = 'pending'`,
    allowed: `status = 'resolved' AND (${option} LIKE 'allow%' OR ${option} IS NULL)`,
    refused: `status = 'resolved' AND ${option} LIKE 'reject%'`,
    unanswered: `status IN ('cancelled', 'timed_out', 'withdrawn')`,
  }
  const BY: Readonly<Record<NonNullable<DecisionQuery['by']>, string>> = {
    person: `status = 'resolved' AND json_extract(answered_by, '$.via') <> 'policy'`,
    policy: `status = 'resolved' AND json_extract(answered_by, '$.via') = 'policy'`,
  }
  /** One statement for each set of conditions that was ever asked for. */
  const listSql = new Map<string, ReturnType<Database['prepare']>>()
  const openAtSql = db.prepare(
    `SELECT * FROM decisions WHERE session_id = @sessionId AND created_at <= @at AND (settled_at IS NULL OR settled_at > @at)
       AND (expires_at IS NULL OR expires_at > @at) ORDER BY created_at, id`,
  )
  const countSql = db.prepare(`SELECT count(*) FROM decisions WHERE session_id = ? AND status = 'pending'`).pluck()
  const rejectedSql = db
    .prepare(
      `SELECT 1 FROM decisions WHERE run_id = ? AND (status = 'timed_out' OR json_extract(nullif(value, ''), '$.option')
         IN ('reject_once', 'reject_session')) LIMIT 1`,
    )
    .pluck()
  const settleSql = db.prepare(
    `UPDATE decisions SET status = @status, value = @value, answered_by = @by, settled_at = @at WHERE id = @id AND status = 'pending'`,
  )
  const toldSql = db.prepare('UPDATE decisions SET told = @how, applied_at = @at WHERE id = @id AND applied_at IS NULL')

  return {
    insert(decision: DecisionRow): void {
      const { toolCallId, tool, toolKind, title, action, complete, wholeBytes, riskReason, ruleId, options, paths } =
        decision
      const payload = {
        toolCallId,
        tool,
        toolKind,
        title,
        action,
        complete,
        wholeBytes,
        riskReason,
        ruleId,
        options,
        paths,
      }
      insertSql.run({
        id: decision.id,
        sessionId: decision.sessionId,
        runId: decision.runId,
        kind: decision.kind,
        requestId: decision.requestId,
        risk: decision.risk,
        status: decision.status,
        value: decision.answer === null ? '' : JSON.stringify(decision.answer),
        payload: JSON.stringify(payload),
        blob: decision.blob,
        answeredBy: decision.by === null ? null : JSON.stringify(decision.by),
        createdAt: decision.createdAt,
        expiresAt: decision.expiresAt,
        settledAt: decision.settledAt,
      })
    },
    get(id: string): DecisionRow | null {
      const row = getSql.get(id)
      return row === undefined ? null : toDecision(row)
    },
    byRequest(runId: string, requestId: string): DecisionRow | null {
      const row = byRequestSql.get(runId, requestId)
      return row === undefined ? null : toDecision(row)
    },
    /** In the order in which they were asked. */
    ofRun(runId: string): DecisionRow[] {
      return ofRunSql.all(runId).map(toDecision)
    },
    pendingOfRun(runId: string): DecisionRow[] {
      return pendingOfRunSql.all(runId).map(toDecision)
    },
    /** The ids alone, of those too that cannot be read: a run has to end all the same. */
    pendingIds(runId: string): string[] {
      return pendingOfRunSql.all(runId).map((raw) => z.object({ id: z.string() }).parse(raw).id)
    },
    /** Of one session, or of all. Oldest first; without those that cannot be read. */
    pending(sessionId: string | null): DecisionRow[] {
      return readable(sessionId === null ? pendingSql.all() : pendingOfSessionSql.all(sessionId), toDecision)
    },
    /** Newest first. */
    list(query: DecisionQuery): DecisionRow[] {
      const { sessionId, runId, risk, before, outcome, by, limit } = query
      const fields = { sessionId, runId, risk, before }
      const given = (Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[]).filter((key) => fields[key] !== undefined)
      const where = [
        ...given.map((key) => CONDITIONS[key]),
        ...(outcome === undefined ? [] : [OUTCOMES[outcome]]),
        ...(by === undefined ? [] : [BY[by]]),
      ]
      const sql = `SELECT * FROM decisions ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`}
        ORDER BY created_at DESC, id DESC LIMIT @limit`
      const statement = listSql.get(sql) ?? db.prepare(sql)
      listSql.set(sql, statement)
      return statement.all({ ...Object.fromEntries(given.map((key) => [key, fields[key]])), limit }).map(toDecision)
    },
    /** Asked by then, and neither settled nor expired by then. */
    openAt(sessionId: string, at: number): DecisionRow[] {
      return openAtSql.all({ sessionId, at }).map(toDecision)
    },
    countPending(sessionId: string): number {
      return Count.parse(countSql.get(sessionId))
    },
    /** Whether the run was told no at least once. */
    wasRefused(runId: string): boolean {
      return rejectedSql.get(runId) !== undefined
    },
    /** False: it had settled before. */
    settle(id: string, settlement: Settlement, at: number): boolean {
      const { status, answer, by } = settlement
      const row = { id, status, value: answer === null ? '' : JSON.stringify(answer), by: JSON.stringify(by), at }
      return settleSql.run(row).changes === 1
    },
    /** Consumed once. False: it was told before. */
    markTold(id: string, how: 'sent' | 'withdrawn' | 'lost', at: number): boolean {
      return toldSql.run({ id, how, at }).changes === 1
    },
  }
}
