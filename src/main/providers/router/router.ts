/** The loopback Router: the one address that agents reach, and the only way from there to a Provider. */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { AppError } from '../../../shared/errors.ts'
import { admit, isLocalSender } from './admission.ts'
import { MAX_BUFFERED_BYTES, createBufferPool } from './budget.ts'
import { runExchange } from './exchange.ts'
import { createFlights } from './flights.ts'
import { modelsAnswer } from './models.ts'
import { dialectOf, findHandling, isProbe, isResponsesPost, parseTarget, wrongMethod } from './paths.ts'
import { createPeerCheck } from './peer.ts'
import type { PeerVerdict } from './peer.ts'
import { createReachability } from './reachability.ts'
import { asAppError, refusal } from './refusals.ts'
import type { Router, RouterDeps } from './types.ts'

const HEADER_BYTES = 65_536
const HEADER_MS = 10_000
/** A backstop behind the body's own 60 s. */
const REQUEST_MS = 75_000
const KEEP_ALIVE_MS = 75_000
const MAX_SOCKETS = 2_048
/** How long the rest of a refused body is read and thrown away, so that its sender sees the answer. */
const DISCARD_MS = 5_000
const STOP_GRACE_MS = 2_000

export function createRouter(deps: RouterDeps): Router {
  const { clock, log, port } = deps
  const flights = createFlights()
  const uid = process.platform === 'linux' ? (deps.uid ?? process.getuid?.() ?? null) : null
  const checkPeer = createPeerCheck({ uid, log })
  const peers = new WeakMap<object, Promise<PeerVerdict>>()
  let requests = 0
  let stopping = false
  let listening: { server: Server; port: Promise<number> } | null = null
  let boundPort: number | null = null

  const exchangeDeps = {
    clock,
    log,
    port,
    upstream: deps.upstream,
    reachability: createReachability(clock),
    bodyCapBytes: () => deps.bodyCapBytes(),
    newBudget: createBufferPool(MAX_BUFFERED_BYTES),
    nextNumber: () => ++requests,
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request
    try {
      if (!(await isAdmittedSender(request))) {
        const error = new AppError('route_admission_denied', 'This address serves local programs of one user only.')
        return void refuse(request, response, error, { keepStatus: true })
      }
      if (isProbe(method, url)) return void response.writeHead(204).end()
      if (method === 'OPTIONS') throw wrongMethod('GET, HEAD, POST')
      await route(request, response)
    } catch (thrown) {
      const error = asAppError(thrown)
      if (error.code === 'internal') log.error('a request to the Router failed', { error: thrown })
      if (response.headersSent) response.destroy()
      else refuse(request, response, error)
    }
  }

  async function isAdmittedSender(request: IncomingMessage): Promise<boolean> {
    return isLocalSender(request.headers, boundPort ?? 0) && (await peers.get(request.socket)) !== 'other_user'
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = parseTarget(request.url ?? '')
    if (stopping || !port.ready()) {
      throw new AppError('model_profiles_unavailable', 'Providers is not running. Open Wheelhouse and try again.')
    }
    const binding = admit(target, request.headers, port)
    const handling = findHandling(request.method ?? '', target.path, binding.routeProtocol)
    if (handling.kind === 'models') {
      const body = modelsAnswer(binding, target.query, port)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
      return
    }
    const flight = flights.begin(binding.routeDigest)
    await runExchange(exchangeDeps, {
      binding,
      endpoint: handling.endpoint,
      target,
      request,
      response,
      flight,
      refuse: (error, retry) => refuse(request, response, error, retry === undefined ? {} : { retry }),
    })
  }

  function refuse(
    request: IncomingMessage,
    response: ServerResponse,
    error: AppError,
    options: { retry?: boolean; keepStatus?: boolean } = {},
  ): number {
    const { method = '', url = '' } = request
    const answer = refusal(error, {
      dialect: dialectOf(url),
      responsesPost: isResponsesPost(method, url),
      ...options,
    })
    response.writeHead(answer.status, answer.headers)
    response.end(method === 'HEAD' ? undefined : answer.body)
    if (!request.complete) discardRest(request)
    return answer.status
  }

  function discardRest(request: IncomingMessage): void {
    const timer = clock.after(DISCARD_MS, () => void request.socket.destroy())
    const forget = (): void => timer[Symbol.dispose]()
    request.on('error', forget).once('end', forget).once('close', forget).resume()
  }

  function makeServer(): Server {
    const server = createServer({
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: HEADER_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: 5_000,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
      // Refused by us, with a reason.
      requireHostHeader: false,
    })
    server.maxConnections = MAX_SOCKETS
    server.on('connection', (socket: Socket) => void peers.set(socket, checkPeer(socket)))
    server.on('request', (request, response) => void serve(request, response))
    server.on('error', (error) => log.warn('the Router listener failed', { error }))
    server.on('upgrade', (request, socket) => refuseUpgrade(request, socket))
    return server
  }

  async function listen(server: Server, wanted: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) =>
        reject(
          new AppError('route_listener_failed', 'The local address that agents use cannot be opened.', {
            detail: wanted === 0 ? 'no free port' : `port ${wanted}`,
            cause,
          }),
        ),
      )
      server.listen({ host: '127.0.0.1', port: wanted }, resolve)
    })
    const address = server.address()
    if (address === null || typeof address === 'string') throw new AppError('internal', 'The listener has no port.')
    boundPort = address.port
    return address.port
  }

  return {
    async ensureListening(options = {}) {
      if (stopping) throw new AppError('model_profiles_unavailable', 'Providers is stopping.')
      if (listening === null) {
        const server = makeServer()
        listening = { server, port: listen(server, options.pinnedPort ?? 0) }
        listening.port.catch(() => (listening = null))
      }
      return { port: await listening.port }
    },
    port: () => boundPort,
    flights: (digest) => flights.count(digest),
    abortRoute: (digest) => flights.abort(digest, new AppError('route_not_found', 'This session has ended.')),
    async stop(signal) {
      stopping = true
      const server = listening?.server
      server?.close()
      await Promise.race([flights.idle(), graceOver(signal)])
      flights.abort(null, new AppError('model_profiles_unavailable', 'Wheelhouse is stopping.'))
      server?.closeAllConnections()
      boundPort = null
    },
  }

  function graceOver(signal: AbortSignal): Promise<void> {
    return clock.sleep(STOP_GRACE_MS, signal).catch(() => undefined)
  }
}

/** Codex opens with an upgrade, and falls back to POST at once on 426 and on nothing else. */
function refuseUpgrade(request: IncomingMessage, socket: Duplex): void {
  const error = new AppError('route_websocket_rejected', 'WebSockets are not served here. Use POST.')
  const { body } = refusal(error, { dialect: dialectOf(request.url ?? ''), responsesPost: false })
  socket.on('error', () => undefined)
  socket.end(
    [
      'HTTP/1.1 426 Upgrade Required',
      'Connection: close',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `x-wheelhouse-error: ${error.code}`,
      'x-should-retry: false',
      '',
      body,
    ].join('\r\n'),
  )
  socket.once('finish', () => void socket.destroy())
}
