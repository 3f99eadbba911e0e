/** A server on 127.0.0.1 for local programs of one user: its bounds, who is admitted, and how a refusal leaves. */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { AppError } from '../../../shared/errors.ts'
import type { Clock, Log } from '../../platform/types.ts'
import { isLocalSender } from './admission.ts'
import { createPeerCheck } from './peer.ts'
import type { PeerVerdict } from './peer.ts'
import { asAppError, refusal } from './refusals.ts'
import type { RefusalContext } from './refusals.ts'

const HEADER_BYTES = 65_536
const HEADER_MS = 10_000
/** A backstop behind the body's own 60 s. */
const REQUEST_MS = 75_000
const KEEP_ALIVE_MS = 75_000
const MAX_SOCKETS = 2_048
/** How long another user may hold one of them: long enough to read why not. */
const STRANGER_MS = 2_000
/** How long the rest of a refused body is read and thrown away, so that its sender sees the answer. */
const DISCARD_MS = 5_000

export interface ListenerDeps {
  clock: Clock
  log: Log
  /** Whose connections are admitted on Linux; this process's own uid by default. */
  uid?: number | undefined
  /** What to call it in the log. */
  name: string
  /** Whose error form the client of this request reads. */
  dialect(request: IncomingMessage): Pick<RefusalContext, 'dialect' | 'responsesPost'>
  /** Takes an upgrade of an admitted sender. Without it, and where it answers false, the upgrade meets 426. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<boolean>
  /** Serves a request of an admitted sender. What it throws becomes a refusal. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>
}

export interface Listener {
  /** Port 0: any free one. Answers the port. @throws AppError `route_listener_failed`. */
  listen(port: number): Promise<number>
  /** Null: not listening. */
  port(): number | null
  /** Answers with an error of ours and tells its status. */
  refuse(
    request: IncomingMessage,
    response: ServerResponse,
    error: AppError,
    options?: Pick<RefusalContext, 'retry' | 'keepStatus'>,
  ): number
  /** Takes no new connection. */
  close(): void
  /** Cuts what is open. */
  cut(): void
}

/** Listens nowhere until it is told to. */
export function createListener(deps: ListenerDeps): Listener {
  const { clock, log } = deps
  const uid = process.platform === 'linux' ? (deps.uid ?? process.getuid?.() ?? null) : null
  const checkPeer = createPeerCheck({ uid, log })
  /** Each connection's verdict, or for its first request the promise of it. */
  const peers = new WeakMap<object, PeerVerdict | Promise<PeerVerdict>>()
  let server: Server | null = null
  let boundPort: number | null = null

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const admitted = isAdmittedSender(request)
      if (!(typeof admitted === 'boolean' ? admitted : await admitted)) {
        const error = new AppError('route_admission_denied', 'This address serves local programs of one user only.')
        return void refuse(request, response, error, { keepStatus: true })
      }
      await deps.serve(request, response)
    } catch (thrown) {
      const error = asAppError(thrown)
      if (error.code === 'internal') log.error(`a request to the ${deps.name} failed`, { error: thrown })
      if (response.headersSent) response.destroy()
      else refuse(request, response, error)
    }
  }

  async function takeUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const onError = (): void => void socket.destroy()
    socket.on('error', onError)
    try {
      if (deps.upgrade !== undefined && (await isAdmittedSender(request))) {
        if (await deps.upgrade(request, socket, head)) return
      }
    } catch (error) {
      log.warn(`an upgrade at the ${deps.name} failed`, { error })
    }
    refuseUpgrade(deps.dialect(request), socket)
  }

  function isAdmittedSender(request: IncomingMessage): boolean | Promise<boolean> {
    if (!isLocalSender(request.headers, boundPort ?? 0)) return false
    const peer = peers.get(request.socket)
    return typeof peer === 'object' ? peer.then((verdict) => verdict !== 'other_user') : peer !== 'other_user'
  }

  function meet(socket: Socket): void {
    const verdict = checkPeer(socket)
    peers.set(socket, verdict)
    void verdict.then((known) => {
      peers.set(socket, known)
      if (known === 'other_user') clock.after(STRANGER_MS, () => void socket.destroy())
    })
  }

  function refuse(
    request: IncomingMessage,
    response: ServerResponse,
    error: AppError,
    options: Pick<RefusalContext, 'retry' | 'keepStatus'> = {},
  ): number {
    const answer = refusal(error, { ...deps.dialect(request), ...options })
    response.writeHead(answer.status, answer.headers)
    response.end(request.method === 'HEAD' ? undefined : answer.body)
    if (!request.complete) discardRest(request)
    return answer.status
  }

  function discardRest(request: IncomingMessage): void {
    const timer = clock.after(DISCARD_MS, () => void request.socket.destroy())
    const forget = (): void => timer[Symbol.dispose]()
    request.on('error', forget).once('end', forget).once('close', forget).resume()
  }

  function makeServer(): Server {
    const made = createServer({
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: HEADER_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: 5_000,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
      // Refused by us, with a reason.
      requireHostHeader: false,
    })
    made.maxConnections = MAX_SOCKETS
    made.on('connection', meet)
    made.on('request', (request, response) => void take(request, response))
    made.on('error', (error) => log.warn(`the ${deps.name}'s listener failed`, { error }))
    made.on('upgrade', (request, socket, head) => void takeUpgrade(request, socket, head))
    return made
  }

  return {
    async listen(wanted) {
      const made = makeServer()
      server = made
      await new Promise<void>((resolve, reject) => {
        made.once('error', (cause) =>
          reject(
            new AppError('route_listener_failed', 'The local address that agents use cannot be opened.', {
              detail: wanted === 0 ? 'no free port' : `port ${wanted}`,
              cause,
            }),
          ),
        )
        made.listen({ host: '127.0.0.1', port: wanted }, resolve)
      })
      const address = made.address()
      if (address === null || typeof address === 'string') throw new AppError('internal', 'The listener has no port.')
      boundPort = address.port
      return address.port
    },
    port: () => boundPort,
    refuse,
    close: () => void server?.close(),
    cut() {
      server?.closeAllConnections()
      boundPort = null
    },
  }
}

/** Codex opens with an upgrade, and falls back to POST at once on 426 and on nothing else. */
function refuseUpgrade({ dialect }: Pick<RefusalContext, 'dialect'>, socket: Duplex): void {
  const error = new AppError('route_websocket_rejected', 'WebSockets are not served here. Use POST.')
  const { body } = refusal(error, { dialect, responsesPost: false })
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
