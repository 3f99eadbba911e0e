/**
 * The runs table. A state changes only from one of its allowed predecessors; whoever changes it stands behind a lease.
 */
import { z } from 'zod'
import { ErrorInfo } from '../../../shared/events.ts'
import { Mode, RunState, SideEffects, Source } from '../../../shared/vocabulary.ts'
import type { TerminalState } from '../../../shared/vocabulary.ts'
import type { Database } from '../../platform/types.ts'
import { PolicySnapshot } from '../types.ts'
import type { RunRow } from '../types.ts'
import { Count, flag, MaybeText, readJson, Text, Texts } from './json.ts'

/** The chosen end of a run, kept while its last work is done. */
export const PreparedEnd = z.object({
  state: z.enum(['completed', 'incomplete', 'failed', 'cancelled', 'timed_out']),
  stopReason: z.string().nullable(),
  error: ErrorInfo.nullable(),
  assistant: z.object({ text: z.string() }).nullable(),
  tools: z.array(
    z.object({
      toolCallId: z.string(),
      tool: z.string(),
      name: z.string().nullable(),
      title: z.string(),
      status: z.string(),
      paths: z.array(z.string()),
      text: z.string(),
    }),
  ),
  sideEffects: SideEffects,
  partialOutput: z.boolean(),
})
export type PreparedEnd = z.infer<typeof PreparedEnd>

const Columns = z.object({
  id: z.string(),
  session_id: z.string(),
  intent_id: z.string(),
  attempt: z.number(),
  retry_of: z.string().nullable(),
  source: Source,
  mode: Mode,
  provider: z.string().nullable(),
  model: z.string().nullable(),
  worker_ref: z.string().nullable(),
  state: RunState,
  side_effects: SideEffects,
  partial_output: z.number(),
  accepted: z.number(),
  reopen_count: z.number(),
  error: z.string().nullable(),
  created_at: z.number(),
  started_at: z.number().nullable(),
  updated_at: z.number(),
  finished_at: z.number().nullable(),
})
const COLUMNS = Object.keys(Columns.shape).join(', ')

function toRun(raw: unknown): RunRow {
  const row = Columns.parse(raw)
  return {
    id: row.id,
    sessionId: row.session_id,
    intentId: row.intent_id,
    attempt: row.attempt,
    retryOf: row.retry_of,
    source: row.source,
    mode: row.mode,
    provider: row.provider,
    model: row.model,
    workerRef: row.worker_ref,
    state: row.state,
    sideEffects: row.side_effects,
    partialOutput: row.partial_output === 1,
    accepted: row.accepted === 1,
    reopenCount: row.reopen_count,
    error: row.error === null ? null : readJson(ErrorInfo, row.error, `runs.error of ${row.id}`),
    createdAt: row.created_at,
    startedAt: row.started_at,
    updatedAt: row.updated_at,
    finishedAt: row.finished_at,
  }
}

export interface NewRun {
  id: string
  sessionId: string
  intentId: string
  attempt: number
  retryOf: string | null
  policy: PolicySnapshot
  at: number
}

export interface RunFacts {
  sideEffects: SideEffects
  partialOutput: boolean
}

/** The very words of the index `runs_one_active`, which holds nothing else. */
export const ACTIVE_STATES = `state IN ('created','queued','running','waiting_for_approval', 'waiting_for_question','cancelling','terminalizing')`

export type RunTable = ReturnType<typeof createRunTable>

export function createRunTable(db: Database) {
  const getSql = db.prepare(`SELECT ${COLUMNS} FROM runs WHERE id = ?`)
  const activeSql = db.prepare(
    `SELECT ${COLUMNS} FROM runs WHERE session_id = ? AND ${ACTIVE_STATES} ORDER BY created_at`,
  )
  const lastEndedSql = db.prepare(
    `SELECT ${COLUMNS} FROM runs WHERE session_id = ? AND finished_at IS NOT NULL ORDER BY finished_at DESC, id DESC LIMIT 1`,
  )
  const orphanCandidatesSql = db
    .prepare(`SELECT session_id FROM runs WHERE ${ACTIVE_STATES} ORDER BY session_id`)
    .pluck()
  const oldSessionsSql = db
    .prepare(
      `SELECT id FROM (SELECT id FROM sessions WHERE id > @after ORDER BY id LIMIT @limit) some
       WHERE (SELECT min(created_at) FROM runs WHERE session_id = some.id) < @before
         AND (SELECT count(*) FROM (SELECT 1 FROM runs WHERE session_id = some.id LIMIT @kept + 1)) > @kept`,
    )
    .pluck()
  const agesSql = db.prepare(
    `SELECT id, finished_at IS NOT NULL AND finished_at < @before AS past FROM runs WHERE session_id = @sessionId
     ORDER BY created_at, id`,
  )
  const deleteSql = db.prepare('DELETE FROM runs WHERE id = ? AND finished_at IS NOT NULL')
  const acceptedSql = db.prepare('SELECT 1 FROM runs WHERE session_id = ? AND accepted = 1 LIMIT 1').pluck()
  const latestAttemptSql = db.prepare('SELECT max(attempt) FROM runs WHERE intent_id = ?').pluck()
  const listSql = db.prepare(
    `SELECT ${COLUMNS} FROM runs WHERE session_id = @sessionId AND (@before IS NULL OR (created_at, id) <
       (SELECT created_at, id FROM runs WHERE id = @before)) ORDER BY created_at DESC, id DESC LIMIT @limit`,
  )
  const policySql = db.prepare('SELECT policy FROM runs WHERE id = ?').pluck()
  const preparedSql = db.prepare('SELECT prepared FROM runs WHERE id = ?').pluck()
  const insertSql = db.prepare(
    `INSERT INTO runs (id, session_id, intent_id, attempt, retry_of, source, mode, provider, model, policy, state, created_at, updated_at)
     VALUES (@id, @sessionId, @intentId, @attempt, @retryOf, @source, @mode, @provider, @model, @policy, 'created', @at, @at)`,
  )
  const moveSql = db.prepare(
    `UPDATE runs SET state = @to, updated_at = @at,
       started_at = CASE WHEN @to = 'running' THEN ifnull(started_at, @at) ELSE started_at END,
       finished_at = CASE WHEN @to IN ('completed', 'incomplete', 'failed', 'cancelled', 'timed_out') THEN @at END
     WHERE id = @id AND state IN (SELECT value FROM json_each(@from))`,
  )
  const acceptSql = db.prepare('UPDATE runs SET accepted = 1, worker_ref = ? WHERE id = ?')
  const factsSql = db.prepare(
    'UPDATE runs SET side_effects = @sideEffects, partial_output = @partialOutput WHERE id = @id',
  )
  const remoteSql = db.prepare(`UPDATE runs SET executor = 'remote' WHERE id = ?`)
  const reopenSql = db.prepare(
    `UPDATE runs SET state = 'running', reopen_count = reopen_count + 1, finished_at = NULL, error = NULL, prepared = NULL,
       executor = 'remote', updated_at = @at WHERE id = @id`,
  )
  const progressSql = db.prepare('UPDATE runs SET progress = ? WHERE id = ?')
  const prepareSql = db.prepare(
    `UPDATE runs SET state = 'terminalizing', prepared = @prepared, updated_at = @at
     WHERE id = @id AND state IN (SELECT value FROM json_each(@from))`,
  )
  const endSql = db.prepare(
    `UPDATE runs SET state = @state, error = @error, side_effects = @sideEffects, partial_output = @partialOutput,
       prepared = NULL, progress = NULL, finished_at = @at, updated_at = @at
     WHERE id = @id AND state IN (SELECT value FROM json_each(@from))`,
  )

  return {
    get(id: string): RunRow | null {
      const row = getSql.get(id)
      return row === undefined ? null : toRun(row)
    },
    /** One at most, by the index `runs_one_active`; more only in a damaged database. */
    active(sessionId: string): RunRow[] {
      return activeSql.all(sessionId).map(toRun)
    },
    lastEnded(sessionId: string): RunRow | null {
      const row = lastEndedSql.get(sessionId)
      return row === undefined ? null : toRun(row)
    },
    /** Sessions with a run that has not ended, whoever owns it. */
    sessionsWithActiveRun(): string[] {
      return Texts.parse(orphanCandidatesSql.all())
    },
    /** Those of `limit` sessions in the order of their ids with more than `kept` runs, the first made before `before`. */
    sessionsWithRunsBefore(query: { before: number; kept: number; after: string; limit: number }): string[] {
      return Texts.parse(oldSessionsSql.all(query))
    },
    /** The session's oldest runs, as far as each ended before `before`, without the newest `kept`. Oldest first. */
    past(sessionId: string, before: number, kept: number): string[] {
      const ages = z.array(z.object({ id: z.string(), past: z.number() })).parse(agesSql.all({ sessionId, before }))
      const old = ages.slice(0, Math.max(0, ages.length - kept))
      const first = old.findIndex(({ past }) => past === 0)
      return (first < 0 ? old : old.slice(0, first)).map(({ id }) => id)
    },
    delete(id: string): void {
      deleteSql.run(id)
    },
    /** Whether an agent took any prompt of this session. */
    anyAccepted(sessionId: string): boolean {
      return acceptedSql.get(sessionId) !== undefined
    },
    latestAttempt(intentId: string): number {
      return Count.parse(latestAttemptSql.get(intentId) ?? 0)
    },
    /** Newest first; `before` is a run's id. */
    list(query: { sessionId: string; before: string | null; limit: number }): RunRow[] {
      return listSql.all(query).map(toRun)
    },
    policy(id: string): PolicySnapshot | null {
      const text = policySql.get(id)
      return text === undefined ? null : readJson(PolicySnapshot, Text.parse(text), `runs.policy of ${id}`)
    },
    prepared(id: string): PreparedEnd | null {
      const text = MaybeText.parse(preparedSql.get(id) ?? null)
      return text === null ? null : readJson(PreparedEnd, text, `runs.prepared of ${id}`)
    },
    insert(run: NewRun): void {
      const { policy, ...rest } = run
      insertSql.run({
        ...rest,
        source: policy.source,
        mode: policy.mode,
        provider: policy.connectionId,
        model: policy.modelId,
        policy: JSON.stringify(policy),
      })
    },
    /** False: the run is in none of `from`. */
    move(id: string, to: RunState, from: readonly RunState[], at: number): boolean {
      return moveSql.run({ id, to, from: JSON.stringify(from), at }).changes === 1
    },
    accept(id: string, workerRef: string): void {
      acceptSql.run(workerRef, id)
    },
    setRemote(id: string): void {
      remoteSql.run(id)
    },
    /** The one exception from "ended is ended". */
    reopen(id: string, at: number): void {
      reopenSql.run({ id, at })
    },
    setFacts(id: string, facts: RunFacts): void {
      factsSql.run({ id, sideEffects: facts.sideEffects, partialOutput: flag(facts.partialOutput) })
    },
    setProgress(id: string, progress: object | null): void {
      progressSql.run(progress === null ? null : JSON.stringify(progress), id)
    },
    prepare(id: string, end: PreparedEnd, from: readonly RunState[], at: number): boolean {
      return prepareSql.run({ id, prepared: JSON.stringify(end), from: JSON.stringify(from), at }).changes === 1
    },
    end(
      id: string,
      end: RunFacts & { state: TerminalState; error: ErrorInfo | null },
      from: readonly RunState[],
      at: number,
    ): boolean {
      const row = {
        id,
        state: end.state,
        error: end.error === null ? null : JSON.stringify(end.error),
        sideEffects: end.sideEffects,
        partialOutput: flag(end.partialOutput),
        from: JSON.stringify(from),
        at,
      }
      return endSql.run(row).changes === 1
    },
  }
}
