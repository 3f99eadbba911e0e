/** The outbox: what is to be sent where, and how far each piece of it got. Whoever writes a result holds the piece's lease. */
import { z } from 'zod'
import { AppError } from '../../../shared/errors.ts'
import { Source } from '../../../shared/vocabulary.ts'
import type { Database } from '../../platform/types.ts'
import type { PlannedDelivery } from '../deliveries/plan.ts'
import { DeliveryStatus, DeliveryTarget, OperationKind, OperationStatus } from '../deliveries/types.ts'
import type { DeliveryView, OperationView, RemoteState } from '../deliveries/types.ts'
import { MaybeCount, readJson, Texts } from './json.ts'

const OPEN = `('pending', 'uploading', 'sending', 'retry_wait')`
const DONE = `('uploaded', 'delivered', 'unsupported')`

const OperationColumns = z.object({
  id: z.string(),
  intent_id: z.string(),
  kind: OperationKind,
  sequence: z.number(),
  depends_on: z.string().nullable(),
  artifact_id: z.string().nullable(),
  idempotency_key: z.string(),
  payload: z.string(),
  status: OperationStatus,
  remote_asset_id: z.string(),
  remote_message_id: z.string(),
  remote_state: z.string(),
  attempt_count: z.number(),
  next_attempt_at: z.number().nullable(),
  window_started_at: z.number(),
  failure_code: z.string(),
  lease_owner: z.string(),
  lease_epoch: z.number(),
  lease_expires_at: z.number().nullable(),
  updated_at: z.number(),
})
const OPERATION = Object.keys(OperationColumns.shape)
  .map((column) => `o.${column}`)
  .join(', ')
const IntentColumns = z.object({
  id: z.string(),
  session_id: z.string(),
  run_id: z.string(),
  transport: z.string(),
  target_id: z.string(),
  context: z.string(),
  status: DeliveryStatus,
  created_at: z.number(),
  updated_at: z.number(),
})
const INTENT = Object.keys(IntentColumns.shape)
  .map((column) => `i.${column}`)
  .join(', ')
const State = z.record(z.string(), z.json())
const ListColumns = IntentColumns.extend({ source: Source, entry: z.string().nullable() })
const Places = z.array(IntentColumns.pick({ transport: true, target_id: true }))

export interface OperationRow {
  id: string
  deliveryId: string
  kind: OperationKind
  sequence: number
  dependsOn: string | null
  artifactId: string | null
  idempotencyKey: string
  payload: string
  status: OperationStatus
  remoteAssetId: string
  remoteMessageId: string
  remoteState: RemoteState
  attempts: number
  nextAttemptAt: number | null
  windowStartedAt: number
  failureCode: string
  owner: string
  epoch: number
  leaseExpiresAt: number | null
  updatedAt: number
}

export interface DeliveryRow {
  id: string
  sessionId: string
  runId: string
  target: DeliveryTarget
  status: DeliveryStatus
}

/** What an attempt leaves behind. The lease goes with it. */
export interface OperationOutcome {
  status: OperationStatus
  remoteAssetId: string
  remoteMessageId: string
  remoteState: RemoteState
  failureCode: string
  nextAttemptAt: number | null
}

function toOperation(raw: unknown): OperationRow {
  const row = OperationColumns.parse(raw)
  return {
    id: row.id,
    deliveryId: row.intent_id,
    kind: row.kind,
    sequence: row.sequence,
    dependsOn: row.depends_on,
    artifactId: row.artifact_id,
    idempotencyKey: row.idempotency_key,
    payload: row.payload,
    status: row.status,
    remoteAssetId: row.remote_asset_id,
    remoteMessageId: row.remote_message_id,
    remoteState: readJson(State, row.remote_state, `delivery_operations of ${row.id}`),
    attempts: row.attempt_count,
    nextAttemptAt: row.next_attempt_at,
    windowStartedAt: row.window_started_at,
    failureCode: row.failure_code,
    owner: row.lease_owner,
    epoch: row.lease_epoch,
    leaseExpiresAt: row.lease_expires_at,
    updatedAt: row.updated_at,
  }
}

function toView(operation: OperationRow): OperationView {
  const { id, kind, sequence, status, artifactId, attempts, nextAttemptAt, failureCode, updatedAt } = operation
  return { id, kind, sequence, status, artifactId, attempts, nextAttemptAt, failureCode, updatedAt }
}

export type DeliveryTable = ReturnType<typeof createDeliveryTable>

export function createDeliveryTable(db: Database) {
  const digestSql = db.prepare('SELECT payload_digest FROM delivery_operations WHERE id = ?').pluck()
  const insertIntentSql = db.prepare(
    `INSERT INTO delivery_intents (id, session_id, run_id, transport, target_id, context, status, created_at, updated_at)
     VALUES (@id, @sessionId, @runId, @transport, @targetId, @context, 'pending', @at, @at) ON CONFLICT (id) DO NOTHING`,
  )
  const insertSql = db.prepare(
    `INSERT INTO delivery_operations (id, intent_id, op_key, kind, sequence, depends_on, artifact_id, idempotency_key, payload,
       payload_digest, status, window_started_at, created_at, updated_at)
     VALUES (@id, @deliveryId, @key, @kind, @sequence, @dependsOn, @artifactId, @id, @payload, @digest, 'pending', @at, @at, @at)`,
  )
  const operationSql = db.prepare(`SELECT ${OPERATION} FROM delivery_operations o WHERE o.id = ?`)
  const ofIntentSql = db.prepare(
    `SELECT ${OPERATION} FROM delivery_operations o WHERE o.intent_id = ? ORDER BY o.sequence`,
  )
  const intentSql = db.prepare(`SELECT ${INTENT} FROM delivery_intents i WHERE i.id = ?`)
  // Of each open piece whose turn it is: when it may be claimed, a lease of somebody's included.
  const WAITING = `
    SELECT o.id AS id, max(ifnull(o.next_attempt_at, 0), CASE WHEN o.lease_owner = '' THEN 0 ELSE ifnull(o.lease_expires_at, 0) END) AS due
    FROM delivery_operations o JOIN delivery_intents i ON i.id = o.intent_id
      LEFT JOIN delivery_operations d ON d.id = o.depends_on
    WHERE o.status IN ${OPEN} AND (d.id IS NULL OR d.status IN ${DONE})
      AND i.transport IN (SELECT value FROM json_each(@transports))`
  const dueSql = db.prepare(`SELECT id FROM (${WAITING}) WHERE due <= @now ORDER BY due, id LIMIT @limit`).pluck()
  const nextDueSql = db.prepare(`SELECT min(due) FROM (${WAITING})`).pluck()
  const claimSql = db.prepare(
    `UPDATE delivery_operations SET lease_owner = @owner, lease_epoch = lease_epoch + 1, lease_expires_at = @expiresAt,
       window_started_at = CASE WHEN attempt_count = 0 THEN @at ELSE window_started_at END,
       attempt_count = attempt_count + 1, updated_at = @at WHERE id = @id`,
  )
  const HELD = `id = @id AND lease_owner = @owner AND lease_epoch = @epoch`
  const progressSql = db.prepare(
    `UPDATE delivery_operations SET status = @status, updated_at = @at WHERE ${HELD} AND status IN ${OPEN}`,
  )
  const settleSql = db.prepare(
    `UPDATE delivery_operations SET status = @status, remote_asset_id = @remoteAssetId, remote_message_id = @remoteMessageId,
       remote_state = @remoteState, failure_code = @failureCode, next_attempt_at = @nextAttemptAt, lease_owner = '',
       lease_expires_at = NULL, updated_at = @at WHERE id = @id`,
  )
  const spreadSql = db.prepare(
    `WITH RECURSIVE after(id) AS (
       SELECT id FROM delivery_operations WHERE depends_on = @id
       UNION SELECT o.id FROM delivery_operations o JOIN after ON o.depends_on = after.id)
     UPDATE delivery_operations SET status = @status, failure_code = @failureCode, next_attempt_at = NULL, lease_owner = '',
       lease_expires_at = NULL, updated_at = @at WHERE id IN after AND status IN ${OPEN}`,
  )
  const reopenSql = db.prepare(
    `WITH RECURSIVE after(id) AS (
       SELECT @id UNION SELECT o.id FROM delivery_operations o JOIN after ON o.depends_on = after.id)
     UPDATE delivery_operations SET status = 'retry_wait', failure_code = '', next_attempt_at = @at, window_started_at = @at,
       attempt_count = 0, updated_at = @at
     WHERE id IN after AND status IN ('failed', 'uncertain') AND (id = @id OR failure_code LIKE 'dependency\\_%' ESCAPE '\\')`,
  )
  const withdrawSql = db.prepare(
    `DELETE FROM delivery_intents WHERE run_id = @runId AND NOT EXISTS (
       SELECT 1 FROM delivery_operations o WHERE o.intent_id = delivery_intents.id AND (o.attempt_count > 0 OR o.status <> 'pending'))`,
  )
  const plannedSql = db.prepare('SELECT transport, target_id FROM delivery_intents WHERE run_id = ?')
  const statusSql = db.prepare('UPDATE delivery_intents SET status = @status, updated_at = @at WHERE id = @id')
  const listSql = db.prepare(
    `SELECT ${INTENT}, r.source AS source,
       (SELECT e.id FROM entries e WHERE e.run_id = i.run_id AND e.kind = 'assistant' ORDER BY e.seq DESC LIMIT 1) AS entry
     FROM delivery_intents i JOIN runs r ON r.id = i.run_id
     WHERE (@id IS NULL OR i.id = @id) AND (@sessionId IS NULL OR i.session_id = @sessionId)
       AND (@runId IS NULL OR i.run_id = @runId) AND (@status IS NULL OR i.status = @status)
       AND (@before IS NULL OR (i.created_at, i.id) < (SELECT created_at, id FROM delivery_intents WHERE id = @before))
     ORDER BY i.created_at DESC, i.id DESC LIMIT @limit`,
  )

  function operations(deliveryId: string): OperationRow[] {
    return ofIntentSql.all(deliveryId).map(toOperation)
  }

  return {
    /**
     * Writes a plan once. False: all of it was there already.
     * @throws AppError `delivery_plan_conflict`: another plan stands under the same ids.
     */
    plan({ id, sessionId, runId, target, operations: planned }: PlannedDelivery, at: number): boolean {
      const { transport, targetId, context } = target
      let inserted = insertIntentSql.run({
        id,
        sessionId,
        runId,
        transport,
        targetId,
        context: JSON.stringify(context),
        at,
      }).changes
      for (const operation of planned) {
        const known = digestSql.get(operation.id)
        if (known === operation.digest) continue
        if (known !== undefined) {
          throw new AppError('delivery_plan_conflict', 'Something else is planned for this place already.', {
            detail: operation.id,
          })
        }
        inserted += insertSql.run({ ...operation, deliveryId: id, at }).changes
      }
      return inserted > 0
    },
    operation(id: string): OperationRow | null {
      const row = operationSql.get(id)
      return row === undefined ? null : toOperation(row)
    },
    /** In their order. */
    operations,
    delivery(id: string): DeliveryRow | null {
      const raw = intentSql.get(id)
      if (raw === undefined) return null
      const row = IntentColumns.parse(raw)
      const context = readJson(DeliveryTarget.shape.context, row.context, `delivery_intents.context of ${id}`)
      const target = { transport: row.transport, targetId: row.target_id, context }
      return { id, sessionId: row.session_id, runId: row.run_id, target, status: row.status }
    },
    /** Pieces that may be claimed now, oldest first. */
    due: (transports: readonly string[], now: number, limit: number): string[] =>
      Texts.parse(dueSql.all({ transports: JSON.stringify(transports), now, limit })),
    /** When the next piece may be claimed; null: nothing is open. */
    nextDue: (transports: readonly string[]): number | null =>
      MaybeCount.parse(nextDueSql.get({ transports: JSON.stringify(transports) })),
    claim(id: string, lease: { owner: string; expiresAt: number; at: number }): void {
      claimSql.run({ id, ...lease })
    },
    /** False: the lease is another's now. */
    progress(
      id: string,
      lease: { owner: string; epoch: number },
      status: 'uploading' | 'sending',
      at: number,
    ): boolean {
      return progressSql.run({ id, ...lease, status, at }).changes === 1
    },
    settle(id: string, outcome: OperationOutcome, at: number): void {
      settleSql.run({ id, ...outcome, remoteState: JSON.stringify(outcome.remoteState), at })
    },
    /** What depended on a piece that will not arrive. */
    spread(id: string, status: 'failed' | 'uncertain', at: number): void {
      const failureCode = status === 'failed' ? 'dependency_failed' : 'dependency_uncertain'
      spreadSql.run({ id, status, failureCode, at })
    },
    reopen: (id: string, at: number): boolean => reopenSql.run({ id, at }).changes > 0,
    /** Forgets what is planned for a run and was not tried yet. */
    withdraw(runId: string): void {
      withdrawSql.run({ runId })
    },
    /** Where something of this run is on its way, or has been. */
    placesOf: (runId: string): { transport: string; targetId: string }[] =>
      Places.parse(plannedSql.all(runId)).map((row) => ({ transport: row.transport, targetId: row.target_id })),
    setStatus(id: string, status: DeliveryStatus, at: number): void {
      statusSql.run({ id, status, at })
    },
    /** Newest first; `before` is a delivery's id. */
    list(query: {
      id: string | null
      sessionId: string | null
      runId: string | null
      status: DeliveryStatus | null
      before: string | null
      limit: number
    }): DeliveryView[] {
      return listSql.all(query).map((raw) => {
        const row = ListColumns.parse(raw)
        const own = operations(row.id)
        return {
          id: row.id,
          runId: row.run_id,
          sessionId: row.session_id,
          transport: row.transport,
          targetId: row.target_id,
          status: row.status,
          pending: own.filter(({ status }) => isOpen(status)).length,
          assistantEntryId: row.entry,
          source: row.source,
          createdAt: row.created_at,
          updatedAt: row.updated_at,
          operations: own.map(toView),
        }
      })
    },
  }
}

export function isOpen(status: OperationStatus): boolean {
  return status === 'pending' || status === 'uploading' || status === 'sending' || status === 'retry_wait'
}
