import { expect, test } from 'vitest'
import { createWebhook } from '../../../src/main/deliveries/index.ts'
import { createOutbox } from '../../../src/main/runtime/deliveries/outbox.ts'
import { planDelivery } from '../../../src/main/runtime/deliveries/plan.ts'
import type {
  ClaimedOperation,
  DeliveryPort,
  DeliveryResult,
  DeliveryTransport,
} from '../../../src/main/runtime/index.ts'
import { createDeliveryTable } from '../../../src/main/runtime/store/deliveries.ts'
import { createFakeClock } from '../../support/clock.ts'
import { createFakeFailpoints } from '../../support/failpoints.ts'
import { startReceiver } from '../deliveries/support.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime } from './support/runtime.ts'

const MAIN = { transport: 'memory', targetId: 'main', context: {} }

interface MemoryTransport extends DeliveryTransport {
  tried: ClaimedOperation[]
  answer: (operation: ClaimedOperation, signal: AbortSignal) => DeliveryResult | Promise<DeliveryResult>
}

/** Keeps what it is handed, and answers what the test says. */
function createMemoryTransport(change: Partial<MemoryTransport> = {}): MemoryTransport {
  const self: MemoryTransport = {
    id: 'memory',
    capability: { text: true, image: true, file: true, video: true },
    isIdempotent: () => false,
    tried: [],
    answer: ({ kind }) => ({ status: kind === 'upload_artifact' ? 'uploaded' : 'delivered' }),
    async execute(operation, signal) {
      self.tried.push(operation)
      return self.answer(operation, signal)
    },
    ...change,
  }
  return self
}

const portOf = (transport: DeliveryTransport, targets = [MAIN]): DeliveryPort => ({
  transports: [transport],
  targets: () => targets,
})

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** A run that answered and published a file. */
async function completed(t: TestRuntime, text = 'the answer', file?: string): Promise<string> {
  const { runId } = await t.submit()
  await quiet()
  if (file !== undefined) {
    await t.runtime.artifacts.publish({ runId, filename: file, open: async () => ({ stream: bytes('content') }) })
  }
  t.executor.last().text(text)
  t.executor.last().end()
  await t.clock.advance(200)
  await quiet()
  return runId
}

async function until(what: () => boolean): Promise<void> {
  for (let tries = 0; tries < 2_000 && !what(); tries++) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(what()).toBe(true)
}

test('an answer and its file are sent in their order, once, and told in the log of the session', async () => {
  const transport = createMemoryTransport()
  await using t = await createTestRuntime({ deps: { deliveries: portOf(transport) } })
  const runId = await completed(t, 'the answer', 'a.txt')
  await until(() => transport.tried.length === 3)
  await t.runtime.deliveries.reconcile()
  expect(transport.tried.map(({ kind, payload, artifact }) => [kind, payload, artifact?.filename])).toEqual([
    ['send_text', 'the answer', undefined],
    ['upload_artifact', '', 'a.txt'],
    ['send_artifact', '', 'a.txt'],
  ])
  const assistant = t.rows(`SELECT id FROM entries WHERE kind = 'assistant'`)
  expect(t.runtime.deliveries.list({ sessionId: t.session.id })).toMatchObject([
    { runId, transport: 'memory', status: 'delivered', pending: 0, source: 'desktop', operations: [{}, {}, {}] },
  ])
  expect(
    t.runtime.deliveries.list({ sessionId: t.session.id }).map(({ assistantEntryId }) => ({ id: assistantEntryId })),
  ).toEqual(assistant)
  const types = t.types()
  expect(types.indexOf('delivery_planned')).toBe(types.indexOf('run_finished completed') - 1)
  expect(types.filter((type) => type === 'delivery_updated')).toHaveLength(3)
  // Nothing with the run's id follows its end.
  expect(t.events().filter(({ type, runId: of }) => type.startsWith('delivery_') && of !== null)).toEqual([])
})

test('where nobody named a place nothing is planned, and nothing is written or looked for because of it', async () => {
  await using t = await createTestRuntime()
  await completed(t)
  expect(t.count('delivery_intents')).toBe(0)
  expect(t.types()).not.toContain('run_state terminalizing')
  expect(t.rows('SELECT policy FROM runs').map((row) => JSON.stringify(row))).not.toContain('deliveryTargets')
})

test('a run that failed or that a person stopped sends nothing, nor does a maintenance run', async () => {
  const transport = createMemoryTransport()
  await using t = await createTestRuntime({ deps: { deliveries: portOf(transport) } })
  await t.submit()
  await quiet()
  t.executor.last().text('half an ans')
  t.executor.last().end({ outcome: 'failed', error: { message: 'no' } })
  await t.clock.advance(200)
  await t.submit({ conversation: false })
  await quiet()
  t.executor.last().text('kept to itself')
  t.executor.last().end()
  await t.clock.advance(200)
  await quiet()
  expect(t.rows('SELECT state FROM runs ORDER BY created_at')).toEqual([{ state: 'failed' }, { state: 'completed' }])
  expect(t.count('delivery_intents')).toBe(0)
})

test('the places are frozen when the run is admitted, and one that nobody can carry to admits nothing', async () => {
  const transport = createMemoryTransport()
  let targets = [MAIN]
  await using t = await createTestRuntime({
    deps: { deliveries: { transports: [transport], targets: () => targets } },
  })
  const { runId } = await t.submit()
  await quiet()
  targets = [{ ...MAIN, transport: 'pigeon' }]
  t.executor.last().text('x')
  t.executor.last().end()
  await t.clock.advance(200)
  await until(() => transport.tried.length === 1)
  expect(t.runtime.runs.get(runId).state).toBe('completed')
  await expect(t.submit()).rejects.toMatchObject({ code: 'resources_invalid', detail: 'pigeon' })
  targets = Array.from({ length: 9 }, (_, index) => ({ ...MAIN, targetId: String(index) }))
  await expect(t.submit()).rejects.toMatchObject({ code: 'resources_invalid' })
  expect(t.count('runs')).toBe(1)
})

test('four operations are under way at once and no more, and one that hangs is given up after 20 s', async () => {
  const transport = createMemoryTransport({ answer: () => new Promise(() => undefined) })
  const targets = Array.from({ length: 6 }, (_, index) => ({ ...MAIN, targetId: String(index) }))
  await using t = await createTestRuntime({ deps: { deliveries: portOf(transport, targets) } })
  await completed(t)
  await until(() => transport.tried.length === 4)
  await t.clock.advance(5_000)
  await quiet()
  expect(transport.tried).toHaveLength(4)
  transport.answer = () => ({ status: 'delivered' })
  await t.clock.advance(20_000)
  await until(() => transport.tried.length === 6)
  await t.runtime.deliveries.reconcile()
  const states = t.runtime.deliveries.list({ sessionId: t.session.id }).map(({ status }) => status)
  expect(states.sort()).toEqual(['delivered', 'delivered', 'uncertain', 'uncertain', 'uncertain', 'uncertain'])
})

test('RT-A67 a stored copy that was changed is not delivered', async () => {
  const transport = createMemoryTransport({
    async answer({ artifact }) {
      await artifact?.open()
      return { status: 'delivered' }
    },
  })
  await using t = await createTestRuntime({ deps: { deliveries: portOf(transport) } })
  t.failpoints.onHit('terminal.after_delivery', () => {
    t.store.db.prepare(`UPDATE attachments SET sha256 = '${'0'.repeat(64)}'`).run()
  })
  await completed(t, 'x', 'a.txt')
  await until(() => t.runtime.deliveries.list({ sessionId: t.session.id })[0]?.status === 'failed')
  expect(t.rows('SELECT status, failure_code FROM delivery_operations ORDER BY sequence')).toEqual([
    { status: 'delivered', failure_code: '' },
    { status: 'failed', failure_code: 'artifact_corrupt' },
    { status: 'failed', failure_code: 'dependency_failed' },
  ])
})

test('RT-A69 a webhook that is unavailable for 11 minutes is tried after 1, 2, 4 … 32, 32 s, then given up, and reopened it delivers', async () => {
  await using receiver = await startReceiver()
  const clock = createFakeClock()
  const webhook = createWebhook({
    clock,
    endpointOf: async () => ({ url: receiver.url, secret: null }),
    idempotencyHeaderOf: () => null,
  })
  receiver.answer = (response) => void response.writeHead(503).end()
  await using t = await createTestRuntime({
    clock,
    deps: { deliveries: portOf(webhook, [{ ...MAIN, transport: 'webhook' }]) },
  })
  await completed(t)
  const operation = () => t.runtime.deliveries.list({ sessionId: t.session.id })[0]?.operations[0]
  const waits: number[] = []
  for (let attempt = 1; ; attempt++) {
    await until(() => {
      const now = operation()
      return now?.attempts === attempt && (now.status === 'retry_wait' || now.status === 'failed')
    })
    const { status, nextAttemptAt } = operation() ?? {}
    if (status === 'failed') break
    const waitMs = (nextAttemptAt ?? 0) - clock.nowMs()
    waits.push(waitMs / 1_000)
    await quiet()
    await clock.advance(waitMs)
  }
  expect(waits.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 32, 32])
  expect(waits.slice(8).every((wait) => wait === 32)).toBe(true)
  expect(waits.reduce((sum, wait) => sum + wait)).toBeGreaterThan(540)
  expect(waits.reduce((sum, wait) => sum + wait)).toBeLessThanOrEqual(600)
  expect(operation()).toMatchObject({ failureCode: 'delivery_retries_exhausted' })
  expect(receiver.seen).toHaveLength(waits.length + 1)

  receiver.answer = (response) => void response.writeHead(204).end()
  const operationId = operation()?.id ?? ''
  expect(await t.runtime.deliveries.reopen({ operationId })).toBe(true)
  await until(() => operation()?.status === 'delivered')
  expect(operation()).toMatchObject({ attempts: 1, failureCode: '' })
  expect(await t.runtime.deliveries.reopen({ operationId })).toBe(false)
  expect(new Set(receiver.seen.map(({ body }) => String(body))).size).toBe(1)
  await webhook.close()
})

/** An outbox as two processes see it, over one planned delivery: a text, and a file that follows. */
async function twoWorkers(t: TestRuntime) {
  const table = createDeliveryTable(t.store.db)
  const { runId } = await t.submit()
  await quiet()
  await t.runtime.artifacts.publish({ runId, filename: 'a.txt', open: async () => ({ stream: bytes('content') }) })
  const transport = createMemoryTransport()
  const [delivery] = planDelivery({
    sessionId: t.session.id,
    runId,
    text: 'x',
    artifacts: t.runtime.artifacts.ofRun(runId),
    targets: [MAIN],
    capabilityOf: () => transport.capability,
  })
  if (delivery === undefined) throw new Error('nothing was planned')
  await t.store.writeTx(() => table.plan(delivery, t.clock.nowMs()))
  const worker = (instanceId: string) =>
    createOutbox({
      clock: t.clock,
      store: t.store,
      failpoints: createFakeFailpoints(),
      tables: { deliveries: table },
      writer: { emitIn: () => () => undefined },
      keeper: { instanceId },
      changes: { tell: () => undefined, subscribe: () => ({ [Symbol.dispose]: () => undefined }) },
    })
  const [text = '', upload = ''] = delivery.operations.map(({ id }) => id)
  return { table, transport, text, upload, delivery, a: worker('a'), b: worker('b') }
}

test('RT-A69 the result of a stale worker is refused, and so is its progress', async () => {
  await using t = await createTestRuntime()
  const { a, b, transport, text, table } = await twoWorkers(t)
  const stale = await a.claim(text, transport)
  await expect(b.claim(text, transport)).rejects.toMatchObject({ code: 'delivery_busy' })
  await t.clock.advance(30_000)
  const fresh = await b.claim(text, transport)
  if (stale === null || fresh === null) throw new Error('not claimed')
  expect(fresh).toMatchObject({ attempt: 2, leaseEpoch: 2, idempotencyKey: stale.idempotencyKey, payload: 'x' })
  await expect(a.progress(stale, 'sending')).rejects.toMatchObject({ code: 'delivery_lease_lost' })
  const lost = { code: 'delivery_lease_lost' }
  await expect(a.complete(stale, transport, { status: 'delivered' })).rejects.toMatchObject(lost)
  await b.progress(fresh, 'sending')
  await b.complete(fresh, transport, { status: 'delivered', remoteMessageId: 'm1' })
  await expect(a.complete(stale, transport, { status: 'failed' })).rejects.toMatchObject(lost)
  await expect(b.complete(fresh, transport, { status: 'delivered', remoteMessageId: 'm1' })).resolves.toBeUndefined()
  await expect(b.complete(fresh, transport, { status: 'failed' })).rejects.toMatchObject(lost)
  expect(table.operation(text)).toMatchObject({ status: 'delivered', remoteMessageId: 'm1', owner: '' })
})

test('an operation waits for the one before it, and shares its fate; reopening either brings both back', async () => {
  await using t = await createTestRuntime()
  const { a, transport, text, upload, table, delivery } = await twoWorkers(t)
  await expect(a.claim(upload, transport)).rejects.toMatchObject({ code: 'delivery_busy' })
  const claim = await a.claim(text, transport)
  if (claim === null) throw new Error('not claimed')
  await a.complete(claim, transport, { status: 'failed', failureCode: 'webhook_http_400', remoteState: { at: 3 } })
  const states = () => table.operations(delivery.id).map(({ status, failureCode }) => [status, failureCode])
  expect(states()).toEqual([
    ['failed', 'webhook_http_400'],
    ['failed', 'dependency_failed'],
    ['failed', 'dependency_failed'],
  ])
  expect(table.delivery(delivery.id)?.status).toBe('failed')
  expect(await a.reopen(upload)).toBe(true)
  expect(states()).toEqual([
    ['retry_wait', ''],
    ['retry_wait', ''],
    ['retry_wait', ''],
  ])
  expect(table.delivery(delivery.id)?.status).toBe('pending')
  expect(await a.claim(text, transport)).toMatchObject({ attempt: 1, remoteState: { at: 3 } })
})

test('a stop gives up what is under way and says that nobody knows, and nothing more is claimed', async () => {
  const transport = createMemoryTransport({ answer: () => new Promise(() => undefined) })
  await using t = await createTestRuntime({ deps: { deliveries: portOf(transport) } })
  await completed(t)
  await until(() => transport.tried.length === 1)
  const stopping = t.runtime.stop()
  for (let second = 0; second < 10; second++) await t.clock.advance(1_000)
  await stopping
  expect(t.rows('SELECT status, failure_code FROM delivery_operations')).toEqual([
    { status: 'uncertain', failure_code: 'runtime_stopping' },
  ])
  await t.runtime.deliveries.reconcile()
  expect(transport.tried).toHaveLength(1)
})

test('a session that is deleted takes its deliveries along, files included', async () => {
  const transport = createMemoryTransport()
  await using t = await createTestRuntime({ deps: { deliveries: portOf(transport) } })
  await completed(t, 'x', 'a.txt')
  await until(() => t.runtime.deliveries.list({ sessionId: t.session.id })[0]?.status === 'delivered')
  await t.runtime.sessions.delete(t.session.id)
  expect([t.count('delivery_intents'), t.count('delivery_operations'), t.count('attachments')]).toEqual([0, 0, 0])
})
