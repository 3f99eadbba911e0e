import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { z } from 'zod'
import { AppError, toWireError } from '../../shared/errors.ts'
import type { Clock, FrameConnection, Ids, Log } from '../platform/types.ts'
import { resolveStatic, SECURITY_HEADERS } from '../renderer-files/index.ts'
import { createWebAdmission } from './admission.ts'
import type { WebAdmission } from './admission.ts'
import { loopbackHost, pathOf, sameOrigin } from './rules.ts'
import { sendStatic } from './send-file.ts'
import { MAX_PAYLOAD, socketConnection } from './socket.ts'

export interface WebHostDeps {
  clock: Clock
  ids: Ids
  log: Log
  installation: string
  /** 32 bytes that sign the cookies. */
  cookieKey: Uint8Array
  /** The built renderer. */
  rendererDir: string
  /** A browser that was let in. */
  attach(connection: FrameConnection): void
}

export interface WebHost {
  readonly port: number
  /** A one-time link: whoever opens it first is in. */
  newUrl(): string
  stop(): Promise<void>
}

const Exchange = z.strictObject({ token: z.string().min(1).max(256) })
const MAX_EXCHANGE_BYTES = 1_024
/** A slow header is an attack or a mistake. */
const HEADERS_TIMEOUT_MS = 10_000
/** Whoever takes nothing of an answer for so long is hung up on. */
const STALLED_MS = 30_000
/** Far more than the tabs of one person; another user of the machine could open as many as this host has descriptors. */
const MAX_SOCKETS = 2_048

/**
 * Serves the renderer and the bridge on 127.0.0.1 (and ::1 where there is one), nowhere else.
 * `port`: the saved one, tried first; a `fixed` one that is taken is an error.
 * @throws AppError `port_taken`.
 */
export async function startWebHost(
  deps: WebHostDeps,
  options: { port: number | null; fixed: boolean },
): Promise<WebHost> {
  const admission = createWebAdmission({ ...deps, key: deps.cookieKey })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_PAYLOAD, perMessageDeflate: false })

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
    respond(deps, admission, request, response).catch((thrown: unknown) => {
      // The browser hung up, or the file went away.
      if (response.headersSent) {
        response.destroy()
        return
      }
      if (!(thrown instanceof AppError)) deps.log.error('a web request failed', { error: thrown })
      sendError(response, thrown)
    })
  }

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const refusal = refuseUpgrade(request, admission)
    if (refusal !== null) {
      socket.on('error', () => socket.destroy())
      const body = JSON.stringify(toWireError(refusal.error))
      socket.end(
        `HTTP/1.1 ${refusal.status} Refused\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        // Node no longer watches a socket that asked for an upgrade: one whose other side never closes would stay for good.
        () => socket.destroy(),
      )
      return
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => deps.attach(socketConnection(accepted)))
  }

  const listen = async (port: number): Promise<Server[]> => {
    const first = await listenOn('127.0.0.1', port, onRequest, onUpgrade)
    const chosen = portOf(first)
    // A machine without IPv6 has no ::1; one where that port is taken there still has 127.0.0.1.
    const second = await listenOn('::1', chosen, onRequest, onUpgrade).catch(() => null)
    return second === null ? [first] : [first, second]
  }

  const servers = await listen(options.port ?? 0).catch((thrown: unknown) => {
    if (!isTaken(thrown)) throw thrown
    if (options.fixed) {
      throw new AppError(
        'port_taken',
        `Port ${options.port} is taken by another program. Choose another with --port, or leave it out.`,
        {
          cause: thrown,
        },
      )
    }
    return listen(0)
  })
  const [main] = servers
  if (main === undefined) throw new AppError('port_taken', 'No port could be opened on this machine.')
  const port = portOf(main)

  return {
    port,
    newUrl: () => `http://127.0.0.1:${port}/#token=${admission.issue()}`,
    async stop() {
      for (const socket of sockets.clients) socket.close(1001)
      await Promise.all(servers.map((server) => closeServer(server)))
      for (const socket of sockets.clients) socket.terminate()
    },
  }
}

async function respond(
  deps: WebHostDeps,
  admission: WebAdmission,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const host = loopbackHost(request.headers.host)
  if (host === null) throw new AppError('host_refused', 'This host answers to loopback names alone.')
  const pathname = pathOf(request.url)
  if (pathname === null) return void response.writeHead(400).end()
  if (request.method === 'POST' && pathname === '/session') {
    if (!sameOrigin(request.headers.origin, host))
      throw new AppError('origin_refused', 'Another page has no business here.')
    const body = Exchange.safeParse(parseJson(await readBody(request)))
    if (!body.success) throw new AppError('input_invalid', 'That is no link of this host.')
    response.setHeader('set-cookie', admission.exchange(body.data.token))
    response.writeHead(204).end()
    return
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    response.writeHead(405).end()
    return
  }
  const path = resolveStatic(deps.rendererDir, pathname)
  if (path === null || !(await sendStatic(response, path, { head: request.method === 'HEAD' })))
    response.writeHead(404).end()
}

/** Null: let it in. In this order: the name, the page, the cookie. */
function refuseUpgrade(request: IncomingMessage, admission: WebAdmission) {
  const host = loopbackHost(request.headers.host)
  if (host === null)
    return { status: 403, error: new AppError('host_refused', 'This host answers to loopback names alone.') }
  if (!sameOrigin(request.headers.origin, host)) {
    return { status: 403, error: new AppError('origin_refused', 'Another page has no business here.') }
  }
  if (pathOf(request.url) !== '/bridge') {
    return { status: 404, error: new AppError('procedure_unknown', 'There is nothing here.') }
  }
  if (!admission.admits(request.headers.cookie)) {
    return { status: 401, error: new AppError('unauthenticated', 'Open the link that the host printed.') }
  }
  return null
}

const STATUS: Partial<Record<AppError['code'], number>> = {
  host_refused: 403,
  origin_refused: 403,
  unauthenticated: 401,
  exchange_locked: 429,
  input_invalid: 400,
  frame_too_large: 413,
}

function sendError(response: ServerResponse, thrown: unknown): void {
  const wire = toWireError(thrown)
  response.writeHead(STATUS[wire.code] ?? 500, { 'content-type': 'application/json' }).end(JSON.stringify(wire))
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_EXCHANGE_BYTES) throw new AppError('frame_too_large', 'That is too long for a link of this host.')
      chunks.push(chunk)
    }
  } catch (error) {
    // Anybody on the machine can hang up: that is no error of this host, and would fill its log.
    throw error instanceof AppError ? error : new AppError('aborted', 'The browser hung up.', { cause: error })
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function listenOn(
  address: string,
  port: number,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
  onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: 30_000 }, onRequest)
    server.maxConnections = MAX_SOCKETS
    server.timeout = STALLED_MS
    server.on('upgrade', onUpgrade)
    server.once('error', reject)
    server.listen({ host: address, port, exclusive: true }, () => {
      server.off('error', reject)
      resolve(server)
    })
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port

const isTaken = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && (thrown.code === 'EADDRINUSE' || thrown.code === 'EACCES')
