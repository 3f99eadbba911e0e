/** Small tables beside the runs: what a run used, its recovery, its remote half, its finished view. */
import { z } from 'zod'
import type { Usage } from '../../../shared/vocabulary.ts'
import type { Database } from '../../platform/types.ts'
import type { RemoteEvidence } from '../types.ts'

const Recovery = z.object({
  run_id: z.string(),
  state: z.enum(['recovering', 'failed', 'completed', 'detached_remote']),
  attempt: z.number(),
  last_error: z.string(),
  next_retry_at: z.number().nullable(),
})

export interface RecoveryRow {
  runId: string
  state: 'recovering' | 'failed' | 'completed' | 'detached_remote'
  attempt: number
  lastError: string
  nextRetryAt: number | null
}

const Remote = z.object({
  driver: z.string(),
  remote_id: z.string(),
  state: z.string(),
  terminal: z.number(),
  can_cancel: z.number(),
  cancel_requested: z.number(),
  cursor: z.string().nullable(),
})

export interface RemoteRow extends RemoteEvidence {
  cancelRequested: boolean
}

const View = z.object({ last_seq: z.number(), view: z.string() })

export type RecordTables = ReturnType<typeof createRecordTables>

export function createRecordTables(db: Database) {
  const usageSql = db.prepare(
    `INSERT INTO run_usage (run_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost_micros,
       context_used, context_size, updated_at)
     VALUES (@runId, @inputTokens, @cachedInputTokens, @cacheWriteTokens, @outputTokens, @reasoningTokens, @costMicros, @contextUsed,
       @contextSize, @at)
     ON CONFLICT (run_id) DO UPDATE SET input_tokens = excluded.input_tokens, cached_input_tokens = excluded.cached_input_tokens,
       cache_write_tokens = excluded.cache_write_tokens, output_tokens = excluded.output_tokens,
       reasoning_tokens = excluded.reasoning_tokens, cost_micros = excluded.cost_micros, context_used = excluded.context_used,
       context_size = excluded.context_size, updated_at = excluded.updated_at`,
  )
  const recoverySql = db.prepare('SELECT * FROM run_recoveries WHERE run_id = ?')
  const beginSql = db.prepare(
    `INSERT INTO run_recoveries (run_id, session_id, state, trigger_source, reason_code, attempt, previous_epoch, started_at, updated_at)
     VALUES (@runId, @sessionId, 'recovering', @trigger, @reason, 1, @previousEpoch, @at, @at)
     ON CONFLICT (run_id) DO UPDATE SET state = 'recovering', trigger_source = @trigger, reason_code = @reason, attempt = attempt + 1,
       previous_epoch = @previousEpoch, updated_at = @at, completed_at = NULL`,
  )
  const failSql = db.prepare(
    `UPDATE run_recoveries SET state = 'failed', last_error = @error, next_retry_at = @nextRetryAt, updated_at = @at WHERE run_id = @runId`,
  )
  const completeSql = db.prepare(
    `UPDATE run_recoveries SET state = 'completed', next_retry_at = NULL, updated_at = @at, completed_at = @at WHERE run_id = @runId`,
  )
  const remoteSql = db.prepare('SELECT * FROM remote_executions WHERE run_id = ?')
  const putRemoteSql = db.prepare(
    `INSERT INTO remote_executions (run_id, driver, remote_id, state, terminal, can_cancel, cursor, updated_at)
     VALUES (@runId, @driver, @remoteId, @state, @terminal, @canCancel, @cursor, @at)
     ON CONFLICT (run_id) DO UPDATE SET driver = excluded.driver, remote_id = excluded.remote_id, state = excluded.state,
       terminal = excluded.terminal, can_cancel = excluded.can_cancel, cursor = excluded.cursor, updated_at = excluded.updated_at`,
  )
  const cancelRemoteSql = db.prepare(
    'UPDATE remote_executions SET cancel_requested = 1, updated_at = @at WHERE run_id = @runId',
  )
  const detachSql = db.prepare(
    `UPDATE run_recoveries SET state = 'detached_remote', last_error = @error, next_retry_at = @nextRetryAt, updated_at = @at
     WHERE run_id = @runId`,
  )
  const forgetViewSql = db.prepare('DELETE FROM run_views WHERE run_id = ?')
  const viewSql = db.prepare('SELECT last_seq, view FROM run_views WHERE run_id = ?')
  const putViewSql = db.prepare(
    `INSERT INTO run_views (run_id, last_seq, view) VALUES (?, ?, ?)
     ON CONFLICT (run_id) DO UPDATE SET last_seq = excluded.last_seq, view = excluded.view`,
  )

  return {
    putUsage(runId: string, usage: Usage, at: number): void {
      const { costUsd, ...tokens } = usage
      const costMicros = costUsd === null ? null : counted(costUsd * 1_000_000)
      const whole = Object.fromEntries(
        Object.entries(tokens).map(([name, value]) => [name, value === null ? null : counted(value)]),
      )
      usageSql.run({ runId, ...whole, costMicros, at })
    },
    recovery(runId: string): RecoveryRow | null {
      const raw = recoverySql.get(runId)
      if (raw === undefined) return null
      const row = Recovery.parse(raw)
      return {
        runId: row.run_id,
        state: row.state,
        attempt: row.attempt,
        lastError: row.last_error,
        nextRetryAt: row.next_retry_at,
      }
    },
    beginRecovery(row: {
      runId: string
      sessionId: string
      trigger: string
      reason: string
      previousEpoch: number
      at: number
    }): void {
      beginSql.run(row)
    },
    failRecovery(row: { runId: string; error: string; nextRetryAt: number; at: number }): void {
      failSql.run(row)
    },
    /** The run goes on elsewhere; `error`: why it could not be taken up, and when it is tried again. */
    detach(row: { runId: string; error: string; nextRetryAt: number | null; at: number }): void {
      detachSql.run(row)
    },
    putRemote(runId: string, remote: RemoteEvidence, at: number): void {
      const { driver, remoteId, state, cursor } = remote
      const flags = { terminal: Number(remote.terminal), canCancel: Number(remote.canCancel) }
      putRemoteSql.run({ runId, driver, remoteId, state, cursor, ...flags, at })
    },
    requestCancel(runId: string, at: number): void {
      cancelRemoteSql.run({ runId, at })
    },
    /** What is kept of a finished run's view: it goes on. */
    forgetView(runId: string): void {
      forgetViewSql.run(runId)
    },
    completeRecovery(runId: string, at: number): void {
      completeSql.run({ runId, at })
    },
    remote(runId: string): RemoteRow | null {
      const raw = remoteSql.get(runId)
      if (raw === undefined) return null
      const row = Remote.parse(raw)
      return {
        driver: row.driver,
        remoteId: row.remote_id,
        state: row.state,
        terminal: row.terminal === 1,
        canCancel: row.can_cancel === 1,
        cancelRequested: row.cancel_requested === 1,
        cursor: row.cursor,
      }
    },
    view(runId: string): { lastSeq: number; view: string } | null {
      const raw = viewSql.get(runId)
      if (raw === undefined) return null
      const row = View.parse(raw)
      return { lastSeq: row.last_seq, view: row.view }
    },
    putView(runId: string, lastSeq: number, view: string): void {
      putViewSql.run(runId, lastSeq, view)
    },
  }
}

/** More is no count of anything: sums over such numbers would overflow. */
const MOST_COUNTED = 1e12

/** As the column takes it; null: an agent's number that cannot be true. */
function counted(value: number): number | null {
  const whole = Math.round(value)
  return whole >= 0 && whole <= MOST_COUNTED ? whole : null
}
