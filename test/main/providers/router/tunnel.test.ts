/** WebSockets through the Router: real sockets on both sides of it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { RouteBinding } from '../../../../src/main/providers/router/index.ts'
import { createFakeClock } from '../../../support/clock.ts'
import { CANARY, MIB, aBinding, listen, startRouter } from './support.ts'
import type { TestRouter, TestRouterOptions } from './support.ts'

interface Provider extends AsyncDisposable {
  url: string
  headers: IncomingHttpHeaders[]
  /** What arrived, oldest first. */
  received: string[]
  sockets: WebSocket[]
  answer(handler: (text: string, socket: WebSocket) => void): void
}

async function startProvider(): Promise<Provider> {
  const server = createServer((_request, response) => response.writeHead(404).end())
  const sockets: WebSocket[] = []
  const received: string[] = []
  const headers: IncomingHttpHeaders[] = []
  let handler = (_text: string, socket: WebSocket): void => {
    socket.send('{"type":"response.output_text.delta","delta":"hi"}')
    socket.send(
      '{"type":"response.completed","response":{"id":"r1","model":"model-a","usage":{"input_tokens":3,"output_tokens":2}}}',
    )
  }
  const wss = new WebSocketServer({ server, perMessageDeflate: false })
  wss.on('connection', (socket, request) => {
    sockets.push(socket)
    headers.push(request.headers)
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer) => {
      received.push(data.toString())
      handler(data.toString(), socket)
    })
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    headers,
    received,
    sockets,
    answer: (next) => void (handler = next),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.terminate()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const startTunnelling = (provider: Provider, options: Partial<TestRouterOptions> = {}): Promise<TestRouter> =>
  startRouter({ baseUrl: provider.url, ...options, port: { tunnelsWebSocket: () => true, ...options.port } })

interface Agent extends AsyncDisposable {
  socket: WebSocket
  next(): Promise<{ text: string }>
  closed: Promise<number>
}

async function connect(to: TestRouter, headers: Record<string, string> = {}): Promise<Agent> {
  const socket = new WebSocket(`ws://127.0.0.1:${to.port}/v1/responses`, {
    headers: { authorization: `Bearer ${to.routeId}`, 'openai-beta': 'responses_websockets', ...headers },
    maxPayload: 64 * MIB,
  })
  const queue: string[] = []
  let waiting: ((value: { text: string }) => void) | null = null
  socket.on('error', () => undefined)
  socket.on('message', (data: Buffer) => {
    const text = data.toString()
    if (waiting === null) queue.push(text)
    else waiting({ text })
    waiting = null
  })
  const closed = new Promise<number>((resolve) => socket.once('close', (code: number) => resolve(code)))
  await once(socket, 'open')
  return {
    socket,
    closed,
    next() {
      const text = queue.shift()
      return text === undefined ? new Promise((resolve) => (waiting = resolve)) : Promise.resolve({ text })
    },
    async [Symbol.asyncDispose]() {
      socket.terminate()
      await closed
    },
  }
}

const create = (model: string, more = ''): string =>
  `{ "type": "response.create", "model": "${model}"${more}, "input": [] }`

/** The status that an upgrade is answered with, and the error's code. */
async function refusedUpgrade(to: TestRouter, headers: Record<string, string> = {}): Promise<[number, unknown]> {
  const socket = new WebSocket(`ws://127.0.0.1:${to.port}/v1/responses`, {
    headers: { authorization: `Bearer ${to.routeId}`, ...headers },
  })
  socket.on('error', () => undefined)
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  response.resume()
  socket.terminate()
  return [response.statusCode ?? 0, response.headers['x-wheelhouse-error']]
}

test('a tunnel carries a response with the Provider’s key, edits the model alone, and records one exchange', async () => {
  await using provider = await startProvider()
  await using to = await startTunnelling(provider)
  await using agent = await connect(to, { cookie: 'a=b', 'chatgpt-account-id': 'acc' })
  expect(to.marked).toEqual([])
  const recorded = to.nextExchange()
  agent.socket.send(create('stale'))
  expect((await agent.next()).text).toContain('delta')
  expect((await agent.next()).text).toContain('response.completed')
  expect(provider.received).toEqual([create('model-a')])
  expect(provider.headers[0]).toMatchObject({
    authorization: `Bearer ${CANARY}`,
    'openai-beta': 'responses_websockets',
  })
  expect(provider.headers[0]).not.toHaveProperty('cookie')
  expect(provider.headers[0]).not.toHaveProperty('chatgpt-account-id')
  expect(provider.headers[0]).not.toHaveProperty('sec-websocket-extensions')
  expect(await recorded).toMatchObject({
    endpoint: 'responses',
    modelAsked: 'stale',
    modelSent: 'model-a',
    flags: ['model_normalised', 'websocket'],
    status: 200,
    end: 'completed',
    usage: { input: 3, output: 2 },
  })
  expect(to.marked).toHaveLength(1)
  expect(to.router.flights()).toBe(0)
})

test('what fits goes on byte for byte, and what is no request passes unread', async () => {
  await using provider = await startProvider()
  provider.answer((text, socket) => socket.send(text.includes('ping') ? '{"type":"pong"}' : '{"type":"error"}'))
  await using to = await startTunnelling(provider)
  await using agent = await connect(to)
  agent.socket.send('{ "type": "ping" , "n": 1e400 }')
  expect((await agent.next()).text).toBe('{"type":"pong"}')
  agent.socket.send(create('model-a', ',"seed":12345678901234567890'))
  await agent.next()
  expect(provider.received).toEqual([
    '{ "type": "ping" , "n": 1e400 }',
    create('model-a', ',"seed":12345678901234567890'),
  ])
})

test('PR-A55 without the option, for another protocol, a stripped history or a Provider that takes none: 426', async () => {
  await using provider = await startProvider()
  const refused = [426, 'route_websocket_rejected']
  const with_ = async (
    binding: Partial<RouteBinding>,
    port: TestRouterOptions['port'] = {},
    baseUrl = provider.url,
  ) => {
    await using to = await startTunnelling(provider, { binding, port, baseUrl })
    return await refusedUpgrade(to)
  }
  expect(await with_({}, { tunnelsWebSocket: () => false })).toEqual(refused)
  expect(await with_({ routeProtocol: 'anthropic_messages' })).toEqual(refused)
  expect(await with_({ historyPortability: 'strip_opaque_provider_state' })).toEqual(refused)
  expect(await with_({}, {}, 'http://127.0.0.1:9')).toEqual(refused)
  expect(await with_({}, {}, 'http://169.254.169.254')).toEqual(refused)
  await using to = await startTunnelling(provider)
  expect(await refusedUpgrade(to, { authorization: 'Bearer nobody' })).toEqual(refused)
  expect(await refusedUpgrade(to, { origin: 'http://localhost:3000' })).toEqual(refused)
  expect(await refusedUpgrade(to, { 'x-wheelhouse-hop': '1' })).toEqual(refused)
  expect(provider.sockets).toHaveLength(0)
})

test('a request that cannot be judged meets one error and leaves the socket open', async () => {
  await using provider = await startProvider()
  await using to = await startTunnelling(provider)
  await using agent = await connect(to)
  agent.socket.send('{"type":"response.create","model":"a","model":"b"}')
  expect(JSON.parse((await agent.next()).text)).toMatchObject({
    type: 'error',
    status_code: 400,
    error: { code: 'request_body_malformed' },
  })
  agent.socket.send(create('model-a'))
  expect((await agent.next()).text).toContain('delta')
  expect(provider.received).toHaveLength(1)
})

test('a second request beside a running one is refused, and so is one beyond the cap of flights', async () => {
  await using provider = await startProvider()
  provider.answer(() => undefined)
  await using to = await startTunnelling(provider)
  await using agent = await connect(to)
  agent.socket.send(create('model-a'))
  agent.socket.send(create('model-a'))
  expect((await agent.next()).text).toContain('route_binding_busy')
  expect(to.router.flights()).toBe(1)
})

test('a binary message closes both sides with 1003, one over the cap with 1009', async () => {
  await using provider = await startProvider()
  await using to = await startTunnelling(provider, { bodyCapBytes: MIB })
  const binary = await connect(to)
  binary.socket.send(Buffer.from('x'))
  expect(await binary.closed).toBe(1003)
  const large = await connect(to)
  large.socket.send('x'.repeat(MIB + 1))
  expect(await large.closed).toBe(1009)
  expect(provider.received).toEqual([])
})

test('after a change of the binding the running response ends, then 1012; the next request is not sent on', async () => {
  await using provider = await startProvider()
  const pending: WebSocket[] = []
  provider.answer((_text, socket) => void pending.push(socket))
  await using to = await startTunnelling(provider)
  const agent = await connect(to)
  agent.socket.send(create('model-a'))
  await expect.poll(() => pending.length, { timeout: 10_000 }).toBe(1)
  to.bind(to.routeId, aBinding(to.routeId, { generation: 2 }))
  pending[0]?.send('{"type":"response.completed","response":{"id":"r"}}')
  expect((await agent.next()).text).toContain('response.completed')
  expect(await agent.closed).toBe(1012)
  const later = await connect(to)
  to.bind(to.routeId, aBinding(to.routeId, { generation: 3 }))
  // The same request, with a letter of its type written as JSON may write it.
  later.socket.send(create('model-a').replace('create', String.raw`creat\u0065`))
  expect(await later.closed).toBe(1012)
  expect(provider.received).toHaveLength(1)
})

test('silence for 330 s closes with 1011; a released route and a stop close with 1001', async () => {
  await using provider = await startProvider()
  const clock = createFakeClock()
  await using to = await startTunnelling(provider, { clock })
  const silent = await connect(to)
  await clock.advance(331_000)
  expect(await silent.closed).toBe(1011)
  const released = await connect(to)
  to.router.abortRoute(aBinding(to.routeId).routeDigest)
  expect(await released.closed).toBe(1001)
  const stopped = await connect(to)
  const stop = to.router.stop(AbortSignal.abort())
  expect(await stopped.closed).toBe(1001)
  await stop
})

test('PR-A53 an agent that hangs up ends its flight, and a Provider that does is no success', async () => {
  await using provider = await startProvider()
  provider.answer(() => undefined)
  await using to = await startTunnelling(provider)
  const agent = await connect(to)
  agent.socket.send(create('model-a'))
  await expect.poll(() => to.router.flights(), { timeout: 10_000 }).toBe(1)
  const aborted = to.nextExchange()
  agent.socket.terminate()
  expect(await aborted).toMatchObject({ end: 'client_aborted' })
  const other = await connect(to)
  other.socket.send(create('model-a'))
  await expect.poll(() => to.router.flights(), { timeout: 10_000 }).toBe(1)
  const cut = to.nextExchange()
  provider.sockets.at(-1)?.terminate()
  expect(await cut).toMatchObject({ end: 'upstream_disconnected', code: 'upstream_disconnected' })
  expect(await other.closed).toBe(1011)
})

test('PR-A50 a key that the Provider echoes in an error does not reach the agent', async () => {
  await using provider = await startProvider()
  provider.answer((_text, socket) =>
    socket.send(`{"type":"error","status":401,"error":{"message":"bad key ${CANARY}"}}`),
  )
  await using to = await startTunnelling(provider)
  await using agent = await connect(to)
  agent.socket.send(create('model-a'))
  expect((await agent.next()).text).toBe('{"type":"error","status":401,"error":{"message":"bad key [secret]"}}')
})

test('a history that cannot be marked closes the socket before a byte of the answer', async () => {
  await using provider = await startProvider()
  await using to = await startTunnelling(provider, {
    port: { tunnelsWebSocket: () => true, markOpaque: () => Promise.resolve({ applied: false, durable: false }) },
  })
  const agent = await connect(to)
  const heard: string[] = []
  agent.socket.on('message', (data: Buffer) => heard.push(data.toString()))
  agent.socket.send(create('model-a'))
  expect(await agent.closed).toBe(1011)
  expect(heard).toEqual([])
})
