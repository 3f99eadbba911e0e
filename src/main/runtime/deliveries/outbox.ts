/** The steps of one operation, each a transaction of its own: whoever holds its lease writes, anybody else is refused. */
import { AppError } from '../../../shared/errors.ts'
import type { Tx } from '../../platform/types.ts'
import type { RuntimeContext } from '../context.ts'
import { isOpen } from '../store/deliveries.ts'
import type { DeliveryRow, OperationOutcome, OperationRow } from '../store/deliveries.ts'
import { outcomeOf } from './outcome.ts'
import type { ClaimedOperation, DeliveryResult, DeliveryStatus, DeliveryTransport } from './types.ts'

const LEASE_MS = 30_000

export interface Outbox {
  /**
   * The right to try an operation, for 30 s. Null: it may have arrived already, which is now on record, and no attempt follows.
   * @throws AppError `delivery_busy`: another has it, it is not due, or what it depends on is not done.
   */
  claim(operationId: string, transport: DeliveryTransport): Promise<Claim | null>
  /** On disk before the first byte leaves. @throws AppError `delivery_lease_lost`. */
  progress(claim: Claim, status: 'uploading' | 'sending'): Promise<void>
  /**
   * What an attempt came to, and what follows for those that depend on it. The same result again is a success.
   * @throws AppError `delivery_lease_lost`: another has the operation.
   */
  complete(claim: Claim, transport: DeliveryTransport, result: DeliveryResult): Promise<void>
  /** A person's wish to try again. False: there is nothing to try. */
  reopen(operationId: string): Promise<boolean>
}

/** An operation in the hands of this process. */
export type Claim = Omit<ClaimedOperation, 'artifact'> & { sessionId: string; artifactId: string | null; owner: string }

export interface OutboxDeps extends Pick<RuntimeContext, 'clock' | 'store' | 'failpoints' | 'changes'> {
  tables: Pick<RuntimeContext['tables'], 'deliveries'>
  writer: Pick<RuntimeContext['writer'], 'emitIn'>
  keeper: Pick<RuntimeContext['keeper'], 'instanceId'>
}

export function createOutbox({ clock, store, tables, writer, keeper, failpoints, changes }: OutboxDeps): Outbox {
  const table = tables.deliveries
  const owner = keeper.instanceId

  function find(operationId: string): { operation: OperationRow; delivery: DeliveryRow } | null {
    const operation = table.operation(operationId)
    const delivery = operation === null ? null : table.delivery(operation.deliveryId)
    return operation === null || delivery === null ? null : { operation, delivery }
  }

  function isDue(operation: OperationRow): boolean {
    const now = clock.nowMs()
    if (!isOpen(operation.status) || (operation.nextAttemptAt ?? 0) > now) return false
    if (operation.owner !== '' && (operation.leaseExpiresAt ?? 0) > now) return false
    const before = operation.dependsOn === null ? null : table.operation(operation.dependsOn)
    return before === null || ['uploaded', 'delivered', 'unsupported'].includes(before.status)
  }

  function settle(
    found: { operation: OperationRow; delivery: DeliveryRow },
    outcome: OperationOutcome,
    at: number,
  ): void {
    const { operation, delivery } = found
    table.settle(operation.id, outcome, at)
    if (outcome.status === 'failed' || outcome.status === 'uncertain') table.spread(operation.id, outcome.status, at)
    aggregate(delivery.id, at)
  }

  function aggregate(deliveryId: string, at: number): void {
    const states = table.operations(deliveryId).map(({ status }) => status)
    table.setStatus(deliveryId, statusOf(states), at)
  }

  /** Its log and whoever lists deliveries are told what became of it. */
  function tell(tx: Tx, operationId: string): void {
    const found = find(operationId)
    if (found === null) throw busy(operationId)
    const { operation, delivery } = found
    const { id, kind, sequence, status, failureCode, attempts: attempt, nextAttemptAt } = operation
    writer.emitIn(
      tx,
      delivery.sessionId,
    )({
      runId: null,
      type: 'delivery_updated',
      data: {
        runId: delivery.runId,
        deliveryId: delivery.id,
        deliveryStatus: delivery.status,
        operationId: id,
        kind,
        sequence,
        status,
        failureCode,
        attempt,
        nextAttemptAt,
      },
    })
    store.afterCommit(tx, () => {
      changes.tell({ kind: 'delivery', sessionId: delivery.sessionId, deliveryId: delivery.id })
    })
  }

  return {
    claim: (operationId, transport) =>
      store.writeTx((tx) => {
        const found = find(operationId)
        if (found === null || !isDue(found.operation)) throw busy(operationId)
        const { operation, delivery } = found
        const at = clock.nowMs()
        if (operation.status === 'sending' && !transport.isIdempotent(delivery.target)) {
          const { remoteAssetId, remoteMessageId, remoteState } = operation
          const kept = { remoteAssetId, remoteMessageId, remoteState, nextAttemptAt: null }
          settle(found, { ...kept, status: 'uncertain', failureCode: 'worker_lost' }, at)
          tell(tx, operationId)
          return null
        }
        table.claim(operationId, { owner, expiresAt: at + LEASE_MS, at })
        const { kind, sequence, idempotencyKey, payload, artifactId, remoteAssetId, remoteState } = operation
        return {
          id: operationId,
          deliveryId: delivery.id,
          sessionId: delivery.sessionId,
          kind,
          sequence,
          attempt: operation.attempts + 1,
          leaseEpoch: operation.epoch + 1,
          owner,
          target: delivery.target,
          idempotencyKey,
          payload,
          artifactId,
          remoteAssetId,
          remoteState,
        }
      }),
    progress: (claim, status) =>
      store.writeTx(() => {
        const lease = { owner: claim.owner, epoch: claim.leaseEpoch }
        if (!table.progress(claim.id, lease, status, clock.nowMs())) throw leaseLost(claim.id)
      }),
    complete: (claim, transport, result) =>
      store.writeTx((tx) => {
        const found = find(claim.id)
        if (found === null) throw leaseLost(claim.id)
        const { operation, delivery } = found
        const at = clock.nowMs()
        if (operation.epoch !== claim.leaseEpoch) throw leaseLost(claim.id)
        if (operation.owner !== claim.owner) {
          // Released by a result: the same one again is an answer that got lost.
          if (operation.owner === '' && isRepeat(operation, result)) return
          throw leaseLost(claim.id)
        }
        settle(found, outcomeOf(operation, result, { at, idempotent: transport.isIdempotent(delivery.target) }), at)
        failpoints.hit('delivery.before_commit')
        tell(tx, claim.id)
      }),
    reopen: (operationId) =>
      store.writeTx((tx) => {
        let root = table.operation(operationId)
        // What failed for another's sake is reopened with it.
        while (root?.failureCode.startsWith('dependency_') === true && root.dependsOn !== null) {
          root = table.operation(root.dependsOn)
        }
        const at = clock.nowMs()
        if (root === null || !table.reopen(root.id, at)) return false
        aggregate(root.deliveryId, at)
        tell(tx, root.id)
        return true
      }),
  }
}

function statusOf(states: readonly OperationRow['status'][]): DeliveryStatus {
  if (states.some(isOpen)) return 'pending'
  if (states.includes('failed')) return 'failed'
  return states.includes('uncertain') ? 'uncertain' : 'delivered'
}

function isRepeat(operation: OperationRow, result: DeliveryResult): boolean {
  const open = result.status === 'uploading' || result.status === 'sending'
  return (
    operation.status === (open ? 'retry_wait' : result.status) &&
    operation.failureCode === (result.failureCode ?? '') &&
    operation.remoteMessageId === (result.remoteMessageId ?? operation.remoteMessageId) &&
    operation.remoteAssetId === (result.remoteAssetId ?? operation.remoteAssetId)
  )
}

function busy(operationId: string): AppError {
  return new AppError('delivery_busy', 'This delivery is not to be tried now.', { detail: operationId })
}

function leaseLost(operationId: string): AppError {
  return new AppError('delivery_lease_lost', 'Another process has taken this delivery over.', { detail: operationId })
}
