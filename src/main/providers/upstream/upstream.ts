/** The pool that carries requests to Providers. */
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { Agent, errors, Pool, ProxyAgent } from 'undici'
import type { Dispatcher } from 'undici'
import { AppError } from '../../../shared/errors.ts'
import { blockedError, judgeHost } from './addresses.ts'
import { authHeaders } from './auth.ts'
import { giveBack } from './chunk-memory.ts'
import { createConnector, systemResolve, systemTrust } from './connector.ts'
import type { Resolve } from './connector.ts'
import { dispatch } from './dispatch.ts'
import { readJson } from './json.ts'
import { openWebSocket } from './websocket.ts'
import type { AddressVerdict, Upstream, UpstreamAnswer, UpstreamRequest } from './types.ts'

const SOCKETS_PER_ORIGIN = 512
const IDLE_KEEP_ALIVE_MS = 4_000
/** Above Codex's own 300 s, so that the client is the one to give up first. */
const SILENCE_MS = 330_000
const HEAD_MS = 600_000
const CONNECT_MS = 10_000
/** Several chunks up to this size go out as one write. */
const JOIN_BYTES = 1_048_576
const MAX_VERDICTS = 256

export interface UpstreamDeps {
  /** Name resolution; the system's by default. */
  resolve?: Resolve
  /** Bounds in ms: DNS + connect + TLS, the answer's head, silence between two chunks. */
  connectMs?: number
  headMs?: number
  silenceMs?: number
  /** The proxy for an address; null, and by default: none. Read at each request. */
  proxyFor?: (url: URL) => string | null
  /** Said along where an address cannot be reached: what else might help on this machine. */
  hintFor?: (url: URL) => string | null
}

export function createUpstream(deps: UpstreamDeps = {}): Upstream {
  const resolve = deps.resolve ?? systemResolve
  const connectMs = deps.connectMs ?? CONNECT_MS
  const bounds = {
    connections: SOCKETS_PER_ORIGIN,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: IDLE_KEEP_ALIVE_MS,
    keepAliveMaxTimeout: IDLE_KEEP_ALIVE_MS,
    headersTimeout: deps.headMs ?? HEAD_MS,
    bodyTimeout: deps.silenceMs ?? SILENCE_MS,
  } as const
  const agent = new Agent({ ...bounds, connect: createConnector({ resolve, timeoutMs: connectMs, connected }) })
  /** What undici writes to: until they are closed for good, since what was under way is written until then. */
  const sockets = new Set<Socket>()
  const verdicts = new Map<string, AddressVerdict>()
  let proxied: { uri: string; agent: ProxyAgent } | null = null

  function connected(socket: Socket): void {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }

  /** Which connection carried a body is undici's to know: one that is busy may be it. Those to a proxy are not seen. */
  function mayBeWriting(): boolean {
    if (proxied !== null) return true
    for (const { writableLength } of sockets) if (writableLength > 0) return true
    return false
  }

  /** A verdict is the same for the same name: it is made once for each. */
  function verdictOn(hostname: string): AddressVerdict {
    const known = verdicts.get(hostname)
    if (known !== undefined) return known
    const verdict = judgeHost(hostname)
    if (verdicts.size >= MAX_VERDICTS) verdicts.clear()
    verdicts.set(hostname, verdict)
    return verdict
  }

  /** The proxy resolves names: what its answer leads to is its own business, and cannot be judged here. */
  function throughProxy(uri: string): Dispatcher {
    if (proxied?.uri === uri) return proxied.agent
    const before = proxied
    const trust = { secureContext: systemTrust(), timeout: connectMs }
    // A proxy that takes the connection and says nothing is one that cannot be reached.
    const clientFactory = (origin: URL, options: object): Pool =>
      new Pool(origin, { ...options, headersTimeout: connectMs })
    const factory = (origin: string | URL, options: object): Pool => new Pool(origin, { ...bounds, ...options })
    const tls = { requestTls: trust, proxyTls: trust }
    proxied = { uri, agent: new ProxyAgent({ ...bounds, uri, ...tls, clientFactory, factory }) }
    // What still runs by the proxy of before ends there.
    void before?.agent.close()
    return proxied.agent
  }

  async function send(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    signal.throwIfAborted()
    const { url } = request
    const verdict = verdictOn(url.hostname)
    if (verdict.kind === 'blocked') throw blockedError(url.hostname, verdict.reason)
    const headers = { ...request.headers, ...authHeaders(request.auth) }
    // Tells a request of ours from others where it could come back to us.
    if (verdict.loopback) headers['x-wheelhouse-hop'] = '1'
    if (request.body !== null) headers['content-length'] = String(byteLength(request.body))

    const { origin, pathname, search } = url
    const body = request.body === null ? null : toBody(request.body)
    const proxy = deps.proxyFor?.(url) ?? null
    let answer: UpstreamAnswer
    try {
      answer = await dispatch(
        proxy === null ? agent : throughProxy(proxy),
        { origin, path: pathname + search, method: request.method, headers, body },
        { signal, headMs: bounds.headersTimeout },
      )
    } catch (error) {
      throw transportError(error, signal, deps.hintFor?.(url) ?? null)
    }
    if (answer.status >= 300 && answer.status < 400) {
      answer.body.destroy()
      throw new AppError(
        'upstream_redirect_rejected',
        'The Provider answered with a redirect, which Wheelhouse does not follow. Check its address.',
        { detail: `status ${answer.status}` },
      )
    }
    return answer
  }

  return {
    send,
    spent(body) {
      if (!mayBeWriting()) giveBack(body)
    },
    getJson: (request, signal) => readJson(send, request, signal),
    openWebSocket(request, signal) {
      if ((deps.proxyFor?.(request.url) ?? null) !== null) {
        return Promise.reject(new AppError('upstream_unreachable', 'WebSockets do not go through the proxy.'))
      }
      return openWebSocket(request, { resolve, connectMs }, signal)
    },
    async close() {
      await Promise.all([agent.destroy(), proxied?.agent.destroy()])
    },
  }
}

function byteLength(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0)
}

function toBody(chunks: readonly Uint8Array[]): Buffer | Readable {
  const [only] = chunks
  if (chunks.length === 1 && only !== undefined) return Buffer.from(only.buffer, only.byteOffset, only.length)
  return byteLength(chunks) <= JOIN_BYTES ? Buffer.concat(chunks) : Readable.from(chunks, { objectMode: false })
}

function transportError(error: unknown, signal: AbortSignal, hint: string | null): unknown {
  if (signal.aborted) return signal.reason
  const known = findAppError(error)
  if (known !== null) return known
  const code = errorCode(error)
  if (code === 'UND_ERR_HEADERS_TIMEOUT') {
    return new AppError('upstream_timeout', 'The Provider did not answer in time.', { cause: error })
  }
  const said = isNoHttp(error, code)
    ? 'What the Provider answers cannot be read as HTTP. Check its address.'
    : `The Provider cannot be reached. ${hint ?? 'Check its address and the network.'}`
  return new AppError('upstream_unreachable', said, { detail: code, cause: error })
}

/** Two lengths that differ; a status below 100, which undici asserts away. */
const NO_HTTP = new Set(['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'ERR_ASSERTION'])

/** Not all of the parser's errors have a code of their own. */
function isNoHttp(error: unknown, code: string): boolean {
  return error instanceof errors.HTTPParserError || NO_HTTP.has(code)
}

/** Our own lookup's refusal, which the socket hands on as it is or inside an aggregate. */
function findAppError(error: unknown): AppError | null {
  if (error instanceof AppError) return error
  if (error instanceof AggregateError) return error.errors.map(findAppError).find((inner) => inner !== null) ?? null
  return error instanceof Error && error.cause !== undefined ? findAppError(error.cause) : null
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'
}
