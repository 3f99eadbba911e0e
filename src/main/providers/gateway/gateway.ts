/**
 * The machine gateway: one stable address for agents that were started outside of Wheelhouse. It passes body, model and
 * query as they came, and changes only whose key goes with them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../../shared/errors.ts'
import type { Clock, Log, Secret } from '../../platform/types.ts'
import { createSecret } from '../../platform/index.ts'
import type { Attempt } from '../breaker/index.ts'
import { createBufferPool, MAX_BUFFERED_BYTES } from '../router/budget.ts'
import { runExchange } from '../router/exchange.ts'
import { createFlights } from '../router/flights.ts'
import { createListener } from '../router/listener.ts'
import type { Listener } from '../router/listener.ts'
import { wrongMethod } from '../router/paths.ts'
import { createReachability } from '../router/reachability.ts'
import type { Exchange, RouteBinding, RouterPort } from '../router/types.ts'
import type { AuthMode, CredentialRef } from '../types.ts'
import type { Upstream } from '../upstream/index.ts'
import { endpointOf, gatewayDialect, isGatewayProbe, keysOf, parseGatewayTarget, protocolOf } from './paths.ts'
import type { GatewayClient, GatewayTarget } from './paths.ts'

const STOP_GRACE_MS = 2_000
const CLIENT_NAMES: Readonly<Record<GatewayClient, string>> = { codex: 'Codex', claude: 'Claude Code' }

/** One account as it was when a request began: a choice made meanwhile is the next request's. */
export interface GatewayUpstream {
  readonly connectionId: string
  readonly connectionName: string
  readonly preset: string
  /** Null: the rehearsal, whose address is asked for at each request. */
  readonly baseUrl: string | null
  readonly authMode: AuthMode
  readonly credentialRef: CredentialRef | null
  readonly credentialEnv: string | null
}

export interface GatewayDeps {
  clock: Clock
  log: Log
  /** The pool that the Router uses. */
  upstream: Upstream
  bodyCapBytes(): number
  uid?: number | undefined
  ready(): boolean
  localKey(): Promise<Secret | null>
  upstreamOf(client: GatewayClient): GatewayUpstream | null
  keyOf(upstream: GatewayUpstream): Promise<Secret | null>
  addressOf(upstream: GatewayUpstream): string
  /** Counted by the connection's circuit breaker, which holds nothing back here. */
  begin(connectionId: string): Attempt | null
  record(exchange: Exchange): void
}

export interface Gateway {
  /** @throws AppError `route_listener_failed`: no other port is tried. */
  listen(port: number): Promise<void>
  port(): number | null
  /** Refuses what is new, gives running exchanges 2 s, then cuts them. */
  stop(signal: AbortSignal): Promise<void>
}

export function createGateway(deps: GatewayDeps): Gateway {
  const { clock, log } = deps
  const flights = createFlights()
  const reachability = createReachability(clock)
  const newBudget = createBufferPool(MAX_BUFFERED_BYTES)
  let requests = 0
  let stopping = false

  const listener: Listener = createListener({
    clock,
    log,
    uid: deps.uid,
    name: 'gateway',
    dialect: ({ method = '', url = '' }) => gatewayDialect(method, url),
    serve,
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request
    if (isGatewayProbe(method, url)) return void response.writeHead(204).end()
    if (method !== 'GET' && method !== 'POST') throw wrongMethod('GET, HEAD, POST')
    const target = parseGatewayTarget(url)
    if (stopping || !deps.ready()) {
      throw new AppError('model_profiles_unavailable', 'Providers is not running. Open Wheelhouse and try again.')
    }
    await demandKey(request, target)
    const upstream = deps.upstreamOf(target.client)
    if (upstream === null) {
      throw new AppError(
        'gateway_upstream_missing',
        `No Provider is selected for ${CLIENT_NAMES[target.client]}. Open Wheelhouse, Gateway, and pick one.`,
      )
    }
    await pass(request, response, target, upstream)
  }

  async function demandKey(request: IncomingMessage, { key }: GatewayTarget): Promise<void> {
    const local = await deps.localKey()
    const isKnown = keysOf(request.headers, key).some((candidate) => local?.equals(createSecret(candidate)) === true)
    if (isKnown) return
    throw new AppError('gateway_auth_required', 'This gateway serves agents that Wheelhouse set up on this machine.')
  }

  function pass(
    request: IncomingMessage,
    response: ServerResponse,
    target: GatewayTarget,
    upstream: GatewayUpstream,
  ): Promise<void> {
    const binding = bindingOf(target.client, upstream)
    return runExchange(
      {
        clock,
        log,
        port: portFor(upstream),
        upstream: deps.upstream,
        reachability,
        bodyCapBytes: () => deps.bodyCapBytes(),
        newBudget,
        nextNumber: () => ++requests,
      },
      {
        binding,
        endpoint: endpointOf(target.path),
        target: { routeId: null, path: target.path, query: target.query },
        request,
        response,
        flight: flights.begin(binding.routeDigest),
        // Under the root key Codex packs its requests as only OpenAI's own service reads them.
        verbatim: { decodes: target.key !== null },
        refuse: (error, retry) => listener.refuse(request, response, error, retry === undefined ? {} : { retry }),
      },
    )
  }

  /** What an exchange asks for, answered for this one account. */
  function portFor(upstream: GatewayUpstream): RouterPort {
    return {
      binding: () => null,
      ready: deps.ready,
      key: () => deps.keyOf(upstream),
      upstreamBaseUrl: () => deps.addressOf(upstream),
      models: () => [],
      codexCatalog: () => null,
      tunnelsWebSocket: () => false,
      isEnabledModel: () => true,
      markOpaque: async () => ({ applied: true, durable: true }),
      // A resend would need a rewrite, and nothing is rewritten here.
      failover: () => null,
      begin: (connectionId) => deps.begin(connectionId),
      waitMs: () => 0,
      record: deps.record,
    }
  }

  return {
    async listen(port) {
      await listener.listen(port)
    },
    port: () => listener.port(),
    async stop(signal) {
      stopping = true
      listener.close()
      await Promise.race([flights.idle(), clock.sleep(STOP_GRACE_MS, signal).catch(() => undefined)])
      flights.abort(null, new AppError('model_profiles_unavailable', 'Wheelhouse is stopping.'))
      listener.cut()
    },
  }
}

/** The session of every record that came by the gateway: there is none. */
export const GATEWAY_SESSION = ''

/** A binding that changes nothing: whatever model the client names passes. */
function bindingOf(client: GatewayClient, upstream: GatewayUpstream): RouteBinding {
  return {
    routeDigest: `gateway:${client}`,
    sessionId: GATEWAY_SESSION,
    client,
    connectionId: upstream.connectionId,
    preset: upstream.preset,
    providerLabel: upstream.connectionName,
    routeProtocol: protocolOf(client),
    clientModel: '',
    upstreamModel: '',
    smallModel: null,
    effort: 'default',
    efforts: null,
    effortDefault: null,
    authMode: upstream.authMode,
    historyState: 'may_contain_opaque',
    historyPortability: null,
    generation: 1,
  }
}
