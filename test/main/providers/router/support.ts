/** A Router over real sockets, with fakes on both sides of it. */
import { randomBytes } from 'node:crypto'
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer, Socket } from 'node:net'
import { createRouter, routeDigest } from '../../../../src/main/providers/router/index.ts'
import type { Exchange, RouteBinding, Router, RouterPort } from '../../../../src/main/providers/router/index.ts'
import { createUpstream } from '../../../../src/main/providers/upstream/index.ts'
import type { UpstreamDeps } from '../../../../src/main/providers/upstream/index.ts'
import { createSecret, createSystemClock } from '../../../../src/main/platform/index.ts'
import type { Clock } from '../../../../src/main/platform/index.ts'
import { createMemoryLog } from '../../../support/log.ts'

export const CANARY = 'sk-canary-0123456789abcdef'
export const MIB = 1_048_576

export interface SeenRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export type Answerer = (request: SeenRequest, response: ServerResponse) => void

export interface FakeUpstream extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly seen: SeenRequest[]
  readonly sockets: Set<Socket>
  answer: Answerer
}

/** Collects each request whole, then answers. */
export async function startUpstream(answer: Answerer = answerJson): Promise<FakeUpstream> {
  const seen: SeenRequest[] = []
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    void collect(request).then((body) => {
      const entry = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
      seen.push(entry)
      fake.answer(entry, response)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  const port = await listen(server)
  const fake: FakeUpstream = {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    sockets,
    answer,
    [Symbol.asyncDispose]: () => close(server),
  }
  return fake
}

export function answerJson(_request: SeenRequest, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end('{"id":"r1","model":"m","usage":{"input_tokens":3,"output_tokens":2}}')
}

/** Writes events and leaves the stream open. */
export function answerEvents(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(text)
}

export function listen(server: Pick<NetServer, 'listen' | 'address'>): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

async function collect(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
  } catch {
    // The Router hung up.
  }
  return Buffer.concat(chunks)
}

export function aBinding(routeId: string, overrides: Partial<RouteBinding> = {}): RouteBinding {
  return {
    routeDigest: routeDigest(routeId),
    sessionId: 'session-1',
    client: 'codex',
    connectionId: 'connection-1',
    preset: 'custom',
    providerLabel: 'Fake',
    routeProtocol: 'responses',
    clientModel: 'model-a',
    upstreamModel: 'model-a',
    smallModel: null,
    effort: 'default',
    efforts: null,
    effortDefault: null,
    authMode: 'bearer',
    historyState: 'empty',
    historyPortability: null,
    generation: 1,
    ...overrides,
  }
}

export interface TestRouter extends AsyncDisposable {
  readonly router: Router
  readonly port: number
  readonly routeId: string
  readonly exchanges: Exchange[]
  readonly marked: string[]
  bind(routeId: string, binding: RouteBinding | null): void
  /** Resolves with the next exchange that ends. */
  nextExchange(): Promise<Exchange>
  /** Resolves with the exchange that ended as the `at`-th. An answer's last byte may be read before its record is made. */
  exchange(at?: number): Promise<Exchange>
}

export interface TestRouterOptions {
  binding?: Partial<RouteBinding>
  baseUrl: string | (() => string)
  key?: string | null
  clock?: Clock
  upstream?: UpstreamDeps
  uid?: number
  bodyCapBytes?: number
  /** Null: does not listen yet. */
  pinnedPort?: null
  port?: Partial<RouterPort>
}

export async function startRouter(options: TestRouterOptions): Promise<TestRouter> {
  const bindings = new Map<string, RouteBinding>()
  const exchanges: Exchange[] = []
  const marked: string[] = []
  let waiting: ((exchange: Exchange) => void)[] = []
  const { baseUrl, key = CANARY } = options
  const port: RouterPort = {
    binding: (digest) => bindings.get(digest) ?? null,
    ready: () => true,
    key: () => Promise.resolve(key === null ? null : createSecret(key)),
    upstreamBaseUrl: () => (typeof baseUrl === 'string' ? baseUrl : baseUrl()),
    models: () => [
      { id: 'model-a', displayName: 'Model A' },
      { id: 'model-b', displayName: null },
    ],
    codexCatalog: () => '{"models":[{"slug":"model-a"}]}',
    isEnabledModel: () => false,
    tunnelsWebSocket: () => false,
    failover: () => null,
    begin: () => null,
    waitMs: () => 0,
    markOpaque(digest) {
      marked.push(digest)
      return Promise.resolve({ applied: true, durable: true })
    },
    record(exchange) {
      exchanges.push(exchange)
      for (const resolve of waiting) resolve(exchange)
      waiting = []
    },
    ...options.port,
  }
  const upstream = createUpstream(options.upstream)
  const router = createRouter({
    clock: options.clock ?? createSystemClock(),
    log: createMemoryLog(),
    port,
    upstream,
    bodyCapBytes: () => options.bodyCapBytes ?? 8 * MIB,
    ...(options.uid === undefined ? {} : { uid: options.uid }),
  })
  if (options.pinnedPort === undefined) await router.ensureListening()
  const bound = router.port() ?? 0
  const routeId = randomBytes(32).toString('base64url')
  bindings.set(routeDigest(routeId), aBinding(routeId, options.binding))
  return {
    router,
    port: bound,
    routeId,
    exchanges,
    marked,
    bind(id, binding) {
      if (binding === null) bindings.delete(routeDigest(id))
      else bindings.set(routeDigest(id), binding)
    },
    nextExchange: () => new Promise((resolve) => waiting.push(resolve)),
    async exchange(at = 0) {
      for (;;) {
        const ended = exchanges[at]
        if (ended !== undefined) return ended
        await new Promise((resolve) => waiting.push(resolve))
      }
    },
    async [Symbol.asyncDispose]() {
      await router.stop(AbortSignal.abort())
      await upstream.close()
    },
  }
}

export interface Call {
  method?: string
  path: string
  headers?: OutgoingHttpHeaders
  body?: string | Buffer
}

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  text: string
  /** False: the connection was cut inside the answer. */
  complete: boolean
}

/** The route id goes as bearer unless the path holds one or the headers say otherwise. */
export async function call(to: TestRouter, { method = 'POST', path, headers, body }: Call): Promise<Reply> {
  const response = await open(to, { method, path, ...(headers && { headers }), ...(body !== undefined && { body }) })
  const chunks: Buffer[] = []
  let complete = true
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer)
  } catch {
    complete = false
  }
  const whole = Buffer.concat(chunks)
  const { statusCode = 0 } = response
  return { status: statusCode, headers: response.headers, body: whole, text: whole.toString('utf8'), complete }
}

/** Resolves at the answer's head. */
export function open(to: TestRouter, { method = 'POST', path, headers, body }: Call): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sized = body !== undefined && headers?.['transfer-encoding'] === undefined
    const auth = path.startsWith('/r/') ? {} : { authorization: `Bearer ${to.routeId}` }
    const request = httpRequest({
      host: '127.0.0.1',
      port: to.port,
      method,
      path,
      agent: false,
      headers: { ...auth, ...(sized ? { 'content-length': Buffer.byteLength(body) } : {}), ...headers },
    })
    request.on('response', resolve).on('error', reject)
    request.end(body)
  })
}
