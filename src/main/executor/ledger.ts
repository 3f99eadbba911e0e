import { z } from 'zod'
import { AppError } from '../../shared/errors.ts'
import type { Actor } from '../../shared/vocabulary.ts'
import type { Clock, Store, Tx } from '../platform/index.ts'
import { WorkerError } from '../workers/index.ts'
import type { DriverName, HeldReason, ProcessIdentity, ReleaseOutcome } from '../workers/index.ts'

export interface WorkerStart {
  workerId: string
  kind: 'session' | 'aside' | 'catalog' | 'plugin'
  driver: DriverName | null
  sessionId: string | null
  runId: string | null
}

export interface OpenWorker {
  workerId: string
  driver: DriverName | null
  sessionId: string | null
  runId: string | null
  /** Null: it never told its identity, and is looked for by its mark. */
  process: ProcessIdentity | null
  state: 'starting' | 'live' | 'held'
  heldReason: HeldReason | null
  /** Unix ms of the last change of state. */
  sinceMs: number
}

/** Rows of proven-gone workers are kept this long, for people who look back. */
const KEEP_ENDED_MS = 30 * 86_400_000

const Process = z.object({
  pid: z.int(),
  pgid: z.int(),
  bootId: z.string(),
  startToken: z.string(),
  exact: z.boolean(),
  startedAtMs: z.number(),
})

const Row = z.object({
  worker_id: z.string(),
  driver: z.enum(['acp', 'claude', 'codex']).nullable(),
  session_id: z.string().nullable(),
  run_id: z.string().nullable(),
  process: z.string().nullable(),
  state: z.enum(['starting', 'live', 'held']),
  held_reason: z.enum(['group_outlived_leader', 'identity_unknown', 'platform_unsupported']).nullable(),
  updated_at: z.number(),
})

const SessionRow = z.object({ worker_id: z.string(), session_id: z.string() })

const SELECT = `
  SELECT worker_id, driver, session_id, run_id, process, state, outcome ->> 'reason' AS held_reason, updated_at
  FROM worker_records`

function toOpenWorker(raw: unknown): OpenWorker {
  const row = Row.parse(raw)
  return {
    workerId: row.worker_id,
    driver: row.driver,
    sessionId: row.session_id,
    runId: row.run_id,
    process: row.process === null ? null : Process.parse(JSON.parse(row.process)),
    state: row.state,
    heldReason: row.held_reason,
    sinceMs: row.updated_at,
  }
}

/** What a start that failed left behind. */
export function outcomeOf(thrown: unknown): ReleaseOutcome {
  if (!(thrown instanceof WorkerError) || thrown.started !== 'held') {
    return { kind: 'gone', strongest: 'none', strays: [] }
  }
  const reason = thrown.code === 'identity_unknown' ? thrown.code : 'group_outlived_leader'
  return { kind: 'held', reason, members: null, strays: [] }
}

export type WorkerLedger = ReturnType<typeof createWorkerLedger>

/**
 * Every process of ours, on record before its first byte and until it is proven gone or a person settled it. What a crash
 * leaves open here is what the next start must end.
 */
export function createWorkerLedger(deps: { store: Store; clock: Clock; onChange?: () => void }) {
  const { store, clock, onChange = () => undefined } = deps
  const { db } = store
  const insertSql = db.prepare(`
    INSERT INTO worker_records (worker_id, kind, driver, session_id, run_id, state, created_at, updated_at)
    VALUES (@workerId, @kind, @driver, @sessionId, @runId, 'starting', @now, @now)`)
  const startedSql = db.prepare(`
    UPDATE worker_records SET state = 'live', process = @process, updated_at = @now
    WHERE worker_id = @workerId AND state IN ('starting','live')`)
  const endedSql = db.prepare(`
    UPDATE worker_records SET state = @state, outcome = @outcome, updated_at = @now
    WHERE worker_id = @workerId AND state IN ('starting','live','held')`)
  const settledSql = db.prepare(`
    UPDATE worker_records SET state = 'settled', settled_by = @by, updated_at = @now WHERE worker_id = @workerId AND state = 'held'`)
  const openSql = db.prepare(`${SELECT} WHERE state IN ('starting','live','held') ORDER BY created_at`)
  const openOfSql = db.prepare(
    `${SELECT} WHERE state IN ('starting','live','held') AND session_id = ? AND kind <> 'aside'`,
  )
  const openSessionsSql = db.prepare(
    `SELECT worker_id, session_id FROM worker_records
     WHERE state IN ('starting','live','held') AND session_id IS NOT NULL AND kind <> 'aside'`,
  )
  const pruneSql = db.prepare(`DELETE FROM worker_records WHERE state IN ('gone','settled') AND updated_at < ?`)

  async function write(change: () => void): Promise<void> {
    await store.writeTx(change)
    onChange()
  }

  return {
    /** Inside the transaction that binds the worker's route: both are durable before anything runs. */
    starting(worker: WorkerStart, _tx: Tx): void {
      insertSql.run({ ...worker, now: clock.nowMs() })
    },
    /**
     * A start that began its conversation anew has a second process under the same id: the newest is on record.
     * @throws AppError `worker_unknown`: the record was closed meanwhile, and no process goes on without one.
     */
    async started(workerId: string, process: ProcessIdentity): Promise<void> {
      const row = { workerId, process: JSON.stringify(process), now: clock.nowMs() }
      const { changes } = await store.writeTx(() => startedSql.run(row))
      if (changes === 0) throw new AppError('worker_unknown', 'The record of this process is closed.')
      onChange()
    },
    /** `gone` closes the record; `held` keeps it, and with it the session's admission. */
    async ended(workerId: string, outcome: ReleaseOutcome): Promise<void> {
      const state = outcome.kind
      await write(() => endedSql.run({ workerId, state, outcome: JSON.stringify(outcome), now: clock.nowMs() }))
    },
    async settled(workerId: string, by: Actor): Promise<void> {
      await write(() => settledSql.run({ workerId, by: JSON.stringify(by), now: clock.nowMs() }))
    },
    open(): readonly OpenWorker[] {
      return openSql.all().map(toOpenWorker)
    },
    /** Asides apart: nothing of the session depends on them. */
    openOf(sessionId: string): readonly OpenWorker[] {
      return openOfSql.all(sessionId).map(toOpenWorker)
    },
    /** As `openOf`, of all sessions. */
    openOfAny(): readonly { workerId: string; sessionId: string }[] {
      return openSessionsSql.all().map((raw) => {
        const { worker_id: workerId, session_id: sessionId } = SessionRow.parse(raw)
        return { workerId, sessionId }
      })
    },
    async prune(): Promise<void> {
      await store.writeTx(() => pruneSql.run(clock.nowMs() - KEEP_ENDED_MS))
    },
  }
}
