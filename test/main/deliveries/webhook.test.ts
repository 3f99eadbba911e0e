import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createWebhook } from '../../../src/main/deliveries/index.ts'
import type { WebhookEndpoint } from '../../../src/main/deliveries/index.ts'
import { createSecret } from '../../../src/main/platform/index.ts'
import type { ClaimedOperation } from '../../../src/main/runtime/index.ts'
import { createFakeClock } from '../../support/clock.ts'
import { artifactOf, operationOf, startReceiver } from './support.ts'

const clock = createFakeClock()
const quietSignal = (): AbortSignal => new AbortController().signal

function webhookTo(
  url: string,
  {
    secret = null,
    idempotencyHeader = null,
  }: { secret?: WebhookEndpoint['secret']; idempotencyHeader?: string | null } = {},
) {
  const webhook = createWebhook({
    clock,
    endpointOf: async (id) => (id === 'main' ? { url, secret } : null),
    idempotencyHeaderOf: (id) => (id === 'main' ? idempotencyHeader : null),
  })
  return {
    isIdempotent: webhook.isIdempotent,
    execute: (change: Partial<ClaimedOperation> = {}) => webhook.execute(operationOf(change), quietSignal()),
    [Symbol.asyncDispose]: () => webhook.close(),
  }
}

test('a text arrives as JSON, with the secret and the key, and the same bytes at each attempt', async () => {
  await using receiver = await startReceiver()
  const secret = createSecret('s3cret-token')
  await using webhook = webhookTo(receiver.url, { secret, idempotencyHeader: 'idempotency-key' })
  expect(await webhook.execute()).toEqual({ status: 'delivered' })
  expect(await webhook.execute({ attempt: 2, leaseEpoch: 5 })).toEqual({ status: 'delivered' })
  const [first, second] = receiver.seen
  expect(JSON.parse(String(first?.body))).toEqual({
    deliveryId: operationOf().deliveryId,
    operationId: operationOf().id,
    sequence: 1,
    kind: 'send_text',
    context: { chat: 7 },
    text: 'The answer.',
  })
  expect(first?.headers).toMatchObject({
    authorization: 'Bearer s3cret-token',
    'idempotency-key': operationOf().idempotencyKey,
    'content-type': 'application/json',
  })
  expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true)
  expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key'])
})

test('a file arrives as multipart, byte for byte, and nothing is uploaded ahead', async () => {
  await using receiver = await startReceiver()
  await using webhook = webhookTo(receiver.url)
  const artifact = artifactOf('line one\r\n--not-a-boundary\r\n', 'a "b".txt')
  expect(await webhook.execute({ kind: 'upload_artifact', artifact })).toEqual({ status: 'uploaded' })
  expect(receiver.seen).toEqual([])
  expect(await webhook.execute({ kind: 'send_artifact', payload: '', artifact })).toEqual({ status: 'delivered' })
  const [{ body, headers } = { body: Buffer.alloc(0), headers: {} }] = receiver.seen
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type'] ?? '' },
  }).formData()
  const message = form.get('message')
  expect(typeof message === 'string' ? JSON.parse(message) : null).toMatchObject({
    file: { filename: 'a "b".txt', bytes: artifact.bytes },
  })
  const file = form.get('file')
  expect(file instanceof File ? [file.name, await file.text()] : null).toEqual([
    'a "b".txt',
    'line one\r\n--not-a-boundary\r\n',
  ])
})

test.each([
  [200, { status: 'delivered' }],
  [302, { status: 'failed', failureCode: 'webhook_http_302' }],
  [400, { status: 'failed', failureCode: 'webhook_http_400' }],
  [401, { status: 'failed', failureCode: 'webhook_http_401' }],
  [408, { status: 'sending', failureCode: 'webhook_http_408' }],
  [425, { status: 'sending', failureCode: 'webhook_http_425' }],
  [429, { status: 'sending', failureCode: 'webhook_http_429' }],
  [500, { status: 'sending', failureCode: 'webhook_http_500' }],
  [503, { status: 'sending', failureCode: 'webhook_http_503' }],
])('status %i is what it means for the delivery', async (status, expected) => {
  await using receiver = await startReceiver()
  receiver.answer = (response) => void response.writeHead(status, { location: '/elsewhere' }).end('x')
  await using webhook = webhookTo(receiver.url)
  expect(await webhook.execute()).toEqual(expected)
  expect(receiver.seen).toHaveLength(1)
})

test.each([
  ['30', 30_000],
  [new Date(clock.nowMs() + 60_000).toUTCString(), 60_000],
])('Retry-After %s is when to try again', async (header, ms) => {
  await using receiver = await startReceiver()
  receiver.answer = (response) => void response.writeHead(429, { 'retry-after': header }).end()
  await using webhook = webhookTo(receiver.url)
  expect(await webhook.execute()).toMatchObject({ status: 'sending', nextAttemptAt: clock.nowMs() + ms })
})

test('a connection that is cut after the body leaves it open whether it arrived', async () => {
  await using receiver = await startReceiver()
  receiver.answer = (_response, request) => request.socket.destroy()
  await using webhook = webhookTo(receiver.url)
  expect(await webhook.execute()).toEqual({ status: 'uncertain', failureCode: 'webhook_cut' })
  expect(receiver.seen).toHaveLength(1)
})

test('nobody there is to be tried again, and lets go of the file', async () => {
  const free = createServer()
  await new Promise<void>((resolve) => {
    free.listen(0, '127.0.0.1', resolve)
  })
  const { port } = free.address() as AddressInfo
  await new Promise((resolve) => {
    free.close(resolve)
  })
  await using webhook = webhookTo(`http://127.0.0.1:${port}/`)
  const artifact = artifactOf('x')
  const stream = await artifact.open()
  const open = async (): Promise<typeof stream> => stream
  expect(await webhook.execute({ kind: 'send_artifact', artifact: { ...artifact, open } })).toEqual({
    status: 'sending',
    failureCode: 'webhook_unreachable',
  })
  expect(stream).toMatchObject({ destroyed: true })
})

test('an address that is none, or a name that nobody set up any more, is the end', async () => {
  await using webhook = webhookTo('file:///etc/passwd')
  expect(await webhook.execute()).toEqual({ status: 'failed', failureCode: 'webhook_address_invalid' })
  const target = { transport: 'webhook', targetId: 'gone', context: {} }
  expect(await webhook.execute({ target })).toEqual({ status: 'failed', failureCode: 'webhook_unknown' })
  expect(webhook.isIdempotent(target)).toBe(false)
})
