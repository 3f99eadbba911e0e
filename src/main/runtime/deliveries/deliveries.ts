import { AppError } from '../../../shared/errors.ts'
import type { Source } from '../../../shared/vocabulary.ts'
import type { Artifacts } from '../artifacts/artifacts.ts'
import type { RuntimeContext } from '../context.ts'
import type { EndWork } from '../types.ts'
import { createOutbox } from './outbox.ts'
import { targetsOfRun } from './terminal.ts'
import { DeliveryTarget, MAX_TARGETS } from './types.ts'
import type { DeliveryPort, DeliveryStatus, DeliveryTransport, DeliveryView } from './types.ts'
import { createDeliveryWorker } from './worker.ts'

const PAGE = 100
const MAX_PAGE = 500

export interface DeliveryQuery {
  sessionId?: string
  runId?: string
  status?: DeliveryStatus
  before?: string
  limit?: number
}

export interface Deliveries {
  /** Newest first, of one session or of all, 100 by default and 500 at most; `before` is a delivery's id. */
  list(query: DeliveryQuery): DeliveryView[]
  get(deliveryId: string): DeliveryView | null
  /**
   * Tries an operation that failed, or whose outcome is not known, once more, and what failed because of it: a person's own
   * wish, since it may arrive twice. False: there is nothing to try.
   */
  reopen(request: { operationId: string }): Promise<boolean>
  /** Works off all that is due now, what earlier processes left included. Never rejects. */
  reconcile(): Promise<void>
}

export interface DeliverySystem extends Deliveries {
  look(): void
  stop(): Promise<void>
  /** The end of a run that has something to deliver is kept before it is written. */
  endWork: EndWork
}

export function createDeliveries(deps: {
  ctx: RuntimeContext
  transports: ReadonlyMap<string, DeliveryTransport>
  artifacts: Pick<Artifacts, 'open'>
}): DeliverySystem {
  const { tables } = deps.ctx
  const outbox = createOutbox(deps.ctx)
  const worker = createDeliveryWorker({ ...deps, outbox })
  return {
    list: ({ sessionId = null, runId = null, status = null, before = null, limit = PAGE }) => {
      const bounded = Math.min(MAX_PAGE, Math.max(1, limit))
      return tables.deliveries.list({ id: null, sessionId, runId, status, before, limit: bounded })
    },
    get: (id) =>
      tables.deliveries.list({ id, sessionId: null, runId: null, status: null, before: null, limit: 1 })[0] ?? null,
    async reopen({ operationId }) {
      const reopened = await outbox.reopen(operationId)
      if (reopened) worker.look()
      return reopened
    },
    reconcile: worker.round,
    look: worker.look,
    stop: worker.stop,
    endWork: {
      pending: (runId) => targetsOfRun(tables, runId).length > 0,
      settle: async () => undefined,
    },
  }
}

export type TargetsOf = (query: { sessionId: string; source: Source }) => DeliveryTarget[]

/** @throws AppError `resources_invalid`: a target names no transport, or is not what a target may be. */
export function createTargetsOf(port: DeliveryPort | undefined): TargetsOf {
  if (port === undefined) return () => []
  const known = new Set(port.transports.map(({ id }) => id))
  return (query) => {
    const targets = DeliveryTarget.array().max(MAX_TARGETS).safeParse(port.targets(query))
    const stranger = targets.data?.find(({ transport }) => !known.has(transport))
    if (targets.success && stranger === undefined) return targets.data
    throw new AppError('resources_invalid', 'A place that the answer is to be sent to cannot be used.', {
      ...(stranger === undefined ? {} : { detail: stranger.transport }),
      cause: targets.error,
    })
  }
}
