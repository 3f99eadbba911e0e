import { AppError } from '../../../shared/errors.ts'
import { withDeadline, within } from '../../platform/index.ts'
import type { Artifacts } from '../artifacts/artifacts.ts'
import type { RuntimeContext } from '../context.ts'
import type { Claim, Outbox } from './outbox.ts'
import type { ClaimedOperation, DeliveredArtifact, DeliveryResult, DeliveryTransport } from './types.ts'

const EVERY_MS = 5_000
const ATTEMPT_MS = 20_000
const AT_ONCE = 4
const PAGE = 32
/** What an attempt under way gets when the runtime stops. */
const STOP_MS = 1_000

export interface DeliveryWorker {
  /** Looks for what is due now: cheap where nothing is. Never throws. */
  look(): void
  /** Works off all that is due now. Never rejects. */
  round(): Promise<void>
  /** Claims nothing more; what is under way is given up after a second and waits for the next start. */
  stop(): Promise<void>
}

export interface WorkerDeps {
  ctx: RuntimeContext
  outbox: Outbox
  transports: ReadonlyMap<string, DeliveryTransport>
  artifacts: Pick<Artifacts, 'open'>
}

/** Sends what is due, four operations at once, and sleeps until the next is; after 5 s at the latest while any is open. */
export function createDeliveryWorker({ ctx, outbox, transports, artifacts }: WorkerDeps): DeliveryWorker {
  const { clock, log, tables } = ctx
  const names = [...transports.keys()]
  const halt = new AbortController()
  const underWay = new Map<string, Promise<void>>()
  let timer: Disposable | null = null
  let stopped = false

  function look(): void {
    if (stopped || names.length === 0) return
    timer?.[Symbol.dispose]()
    timer = null
    try {
      for (const id of tables.deliveries.due(names, clock.nowMs(), PAGE)) {
        if (underWay.size >= AT_ONCE) break
        if (!underWay.has(id)) begin(id)
      }
      const next = tables.deliveries.nextDue(names)
      if (next !== null) timer = clock.after(Math.min(EVERY_MS, Math.max(1, next - clock.nowMs())), look)
      // What is due and has no place is looked at again as soon as one is free.
      if (next !== null && next <= clock.nowMs()) wait()
    } catch (error) {
      log.warn('The outbox could not be read.', { error })
      wait()
    }
  }

  function wait(): void {
    timer?.[Symbol.dispose]()
    timer = clock.after(EVERY_MS, look)
  }

  function begin(id: string): void {
    const work = deliver(id)
      .catch((error: unknown) => {
        const code = error instanceof AppError ? error.code : null
        // Another was first.
        if (code === 'delivery_busy') return
        if (code === 'delivery_lease_lost') log.info('A delivery was taken over.', { error, operationId: id })
        else log.warn('A delivery was not tried to its end.', { error, operationId: id })
      })
      .finally(() => {
        underWay.delete(id)
        look()
      })
    underWay.set(id, work)
  }

  async function deliver(id: string): Promise<void> {
    const delivery = tables.deliveries.operation(id)?.deliveryId ?? ''
    const transport = transports.get(tables.deliveries.delivery(delivery)?.target.transport ?? '')
    if (transport === undefined) return
    const claim = await outbox.claim(id, transport)
    if (claim === null) return
    await outbox.progress(claim, claim.kind === 'upload_artifact' ? 'uploading' : 'sending')
    await outbox.complete(claim, transport, await attempt(claim, transport))
  }

  async function attempt(claim: Claim, transport: DeliveryTransport): Promise<DeliveryResult> {
    // Nothing left: unlike what is given up later, this is no question of what arrived.
    if (halt.signal.aborted) return { status: 'sending', failureCode: 'runtime_stopping' }
    try {
      const operation = toOperation(claim)
      return await withDeadline(clock, ATTEMPT_MS, halt.signal, (signal) => transport.execute(operation, signal))
    } catch (error) {
      const code = error instanceof AppError ? error.code : 'transport_failed'
      log.warn('An attempt at a delivery did not succeed.', { error, operationId: claim.id })
      if (code.startsWith('artifact_')) return { status: 'failed', failureCode: code }
      // An upload shows nothing to anybody: it may be repeated.
      return { status: claim.kind === 'upload_artifact' ? 'uploading' : 'uncertain', failureCode: code }
    }
  }

  function toOperation({ artifactId, sessionId, owner: _owner, ...rest }: Claim): ClaimedOperation {
    return { ...rest, artifact: artifactId === null ? null : artifactOf(sessionId, artifactId) }
  }

  function artifactOf(sessionId: string, artifactId: string): DeliveredArtifact {
    const found = tables.artifacts.get(artifactId)
    if (found === null) {
      throw new AppError('artifact_not_found', 'There is no such file in this session.', { detail: artifactId })
    }
    const { id, kind, filename, mediaType, bytes, sha256 } = found
    const open = async (): Promise<AsyncIterable<Uint8Array>> =>
      (await artifacts.open({ sessionId, artifactId })).stream
    return { id, kind, filename, mediaType, bytes, sha256, open }
  }

  return {
    look,
    async round() {
      look()
      while (underWay.size > 0) await Promise.all(underWay.values())
    },
    async stop() {
      stopped = true
      const work = Promise.all(underWay.values())
      timer?.[Symbol.dispose]()
      timer = null
      await within(clock, STOP_MS, work)
      halt.abort(new AppError('runtime_stopping', 'Wheelhouse is closing.'))
      await work
    },
  }
}
