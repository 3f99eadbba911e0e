import { AppError } from '../../../shared/errors.ts'
import type { EventDraft } from '../events/draft.ts'
import type { Tables } from '../store/index.ts'
import type { PreparedEnd } from '../store/runs.ts'
import { planDelivery } from './plan.ts'
import type { DeliveryCapability, DeliveryTarget } from './types.ts'

export type CapabilityOf = (transport: string) => DeliveryCapability | null

/**
 * Inside the transaction that ends a run: plans what its answer and its files are sent as. A run that failed, or that
 * somebody stopped, has no answer to send.
 */
export function planEnd(
  tables: Tables,
  run: {
    runId: string
    sessionId: string
    end: PreparedEnd
    at: number
    capabilityOf: CapabilityOf
    reopened: boolean
  },
): EventDraft[] {
  const { runId, sessionId, end, at, capabilityOf, reopened } = run
  if (end.state !== 'completed' && end.state !== 'incomplete') return []
  const frozen = targetsOfRun(tables, runId)
  if (frozen.length === 0) return []
  // A run that was reopened ends twice. Where its first end is on its way already, nothing else is sent.
  const taken = reopened ? tables.deliveries.placesOf(runId) : []
  const targets = frozen.filter(
    ({ transport, targetId }) => !taken.some((each) => each.transport === transport && each.targetId === targetId),
  )
  const text = end.assistant?.text ?? ''
  const artifacts = tables.artifacts.ofRun(runId)
  const fresh = planDelivery({ sessionId, runId, text, artifacts, targets, capabilityOf }).filter((delivery) =>
    tables.deliveries.plan(delivery, at),
  )
  return fresh.map(({ id, target, operations }) => ({
    runId: null,
    type: 'delivery_planned',
    data: {
      runId,
      deliveryId: id,
      transport: target.transport,
      targetId: target.targetId,
      operations: operations.map((operation) => ({ operationId: operation.id, kind: operation.kind })),
    },
    dedupeKey: `delivery:${id}`,
  }))
}

/** Frozen when the run was admitted. A record that cannot be read names none: the run has to end all the same. */
export function targetsOfRun(tables: Tables, runId: string): readonly DeliveryTarget[] {
  try {
    return tables.runs.policy(runId)?.deliveryTargets ?? []
  } catch (error) {
    if (error instanceof AppError && error.code === 'database_corrupt') return []
    throw error
  }
}
