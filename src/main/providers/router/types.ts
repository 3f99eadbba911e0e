/**
 * What the loopback Router reads and gives. It owns the listener, admission, flights and the exchange itself; routes,
 * credentials, models and records belong to whoever implements `RouterPort`.
 */
import type { ErrorCode } from '../../../shared/errors.ts'
import type { ClientId, Effort, PersistOutcome } from '../../../shared/vocabulary.ts'
import type { Clock, Log, Secret } from '../../platform/types.ts'
import type { Attempt } from '../breaker/index.ts'
import type { AuthMode, Upstream } from '../upstream/index.ts'

/** Which API the agent speaks on this route. The Router never translates between the two. */
export type RouteProtocol = 'responses' | 'anthropic_messages'

/** The part of a route's binding that the Router reads. The port hands out a frozen copy, never the live row. */
export interface RouteBinding {
  /** SHA-256 of the route id's characters, base64url: the id itself is nowhere kept. */
  readonly routeDigest: string
  readonly sessionId: string
  readonly client: ClientId
  readonly connectionId: string
  /** `openai`, `anthropic`, `custom`, …: decides which of a client's own model names pass. */
  readonly preset: string
  readonly providerLabel: string
  readonly routeProtocol: RouteProtocol
  /** The name the agent sends; a trailing `[1m]` is not compared. */
  readonly clientModel: string
  readonly upstreamModel: string
  /** Messages routes: the model that the client's background calls may name. */
  readonly smallModel: string | null
  /** `default`: no override of ours. */
  readonly effort: Effort
  /** What the model's contract admits. Null: unknown, so the client's own value stays. */
  readonly efforts: readonly Effort[] | null
  /** The contract's own default; null: unknown or none. */
  readonly effortDefault: Effort | null
  readonly authMode: AuthMode
  readonly historyState: 'empty' | 'may_contain_opaque'
  /** Sticky: provider state is dropped from every request of this route. */
  readonly historyPortability: 'strip_opaque_provider_state' | null
  readonly generation: number
}

/** A person's rule for when a Provider fails, as it holds for one route now. */
export interface Failover {
  readonly on429: boolean
  /** In order, at least one: each can be asked, and can read the history. */
  readonly candidates: readonly Candidate[]
}

export interface Candidate {
  /** The route's own but for whom it asks, and for which model. */
  readonly binding: RouteBinding
  /** What it answers cannot be read by the one that the route is bound to. */
  readonly strips: boolean
}

export interface RoutedModel {
  readonly id: string
  readonly displayName: string | null
}

/** What the Router needs of the rest of Providers. */
export interface RouterPort {
  /** Synchronous: answers a frozen copy of the binding of now. Null: unknown or released route. */
  binding(routeDigest: string): RouteBinding | null
  /** False until Providers is started and after it stopped: requests then get 503 `model_profiles_unavailable`. */
  ready(): boolean
  /**
   * The connection's active key, read at request time; never called for auth `none`. Null: there is none.
   * @throws AppError `credential_store_unavailable`, `credential_store_failed`.
   */
  key(binding: RouteBinding, signal: AbortSignal): Promise<Secret | null>
  /** The upstream's base address, resolved at request time (the rehearsal has none before it listens). */
  upstreamBaseUrl(binding: RouteBinding): string
  /** Enabled models of the binding's connection, the bound one first. From the cache alone. */
  models(binding: RouteBinding): readonly RoutedModel[]
  /** The JSON text of Codex's model catalog for this binding (30-providers 5.5). Null: no entry can be made. */
  codexCatalog(binding: RouteBinding): string | null
  /** Whether the connection asks for WebSockets to be carried; otherwise an upgrade meets 426. */
  tunnelsWebSocket(binding: RouteBinding): boolean
  /** Preset `anthropic`: whether this `claude-*` id is an enabled model of the connection. */
  isEnabledModel(binding: RouteBinding, modelId: string): boolean
  /**
   * The upstream answered 2xx: history may hold opaque items from now on. Called before the first byte goes to the
   * agent; persisted once a route, so a marked one answers at once. `strips`: they are another domain's than the
   * binding's, so provider state is dropped from every later request. Not applied: the request fails with 503.
   */
  markOpaque(routeDigest: string, options: { strips: boolean }): Promise<PersistOutcome>
  /** Who else may answer this request. Null: no rule, so nothing is held back and nothing is sent twice. */
  failover(binding: RouteBinding): Failover | null
  /** Counted by the connection's circuit breaker. Null, where `guarded`: it is open, and skipped. */
  begin(connectionId: string, guarded: boolean): Attempt | null
  /** How long until the first of these open connections is tried again. */
  waitMs(connectionIds: readonly string[]): number
  /** One per request that reached a route, when it has ended. Synchronous, never throws. */
  record(exchange: Exchange): void
}

/** What other systems learn of a request (seam S6). */
export interface ExchangeRecord {
  /** Counts from 1 within this Router. */
  readonly n: number
  readonly sessionId: string
  readonly connectionId: string
  readonly modelSent: string
  /** Who made the answer: the upstream, or this Router (a refusal, an unreachable upstream). */
  readonly origin: 'upstream' | 'router'
  /** The upstream's own status, or ours. Null: nothing was answered (the agent hung up first). */
  readonly status: number | null
  readonly code: ErrorCode | null
  /** The type of an error event inside a 2xx stream. */
  readonly streamError: string | null
  readonly retryAfterMs: number | null
  readonly requestId: string | null
  /** Another than the connection that the session chose has answered. */
  readonly failover: boolean
  /** What only another Provider can read was cut out of it. */
  readonly stripped: boolean
}

export type ExchangeFlag = 'model_normalised' | 'effort_set' | 'stripped' | 'websocket' | 'compacted' | 'failover'

/** How a stream ended: its terminal event, or what happened instead. */
export type ExchangeEnd =
  | 'completed'
  | 'incomplete'
  | 'failed'
  | 'client_aborted'
  | 'upstream_disconnected'
  | 'refused'
  | 'unknown'

/** `other`: a path that the gateway passes without knowing it. */
export type Endpoint = 'responses' | 'responses_compact' | 'messages' | 'count_tokens' | 'other'

/** The record with what the inspector and metering want. Never bodies, header values, route ids, keys, addresses. */
export interface Exchange extends ExchangeRecord {
  readonly client: ClientId
  /** 0: the session's own choice answered; else the place in the chain, from 1. */
  readonly failoverIndex: number
  readonly endpoint: Endpoint
  readonly modelAsked: string | null
  readonly flags: readonly ExchangeFlag[]
  /** Bytes of the request's body as it arrived; bytes of the answer's body as they left. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** Unix ms. */
  readonly startedAtMs: number
  /** Monotonic durations since the request's head was read. */
  readonly firstByteMs: number | null
  readonly totalMs: number
  readonly end: ExchangeEnd
  /** Tokens as the upstream counted them; null: it said nothing. */
  readonly usage: TokenUsage | null
  /** The model and response id that the answer names. */
  readonly modelReported: string | null
  readonly responseId: string | null
}

/** `input` is uncached. Null: nobody said. */
export interface TokenUsage {
  readonly input: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly output: number | null
  readonly reasoning: number | null
}

export interface RouterDeps {
  clock: Clock
  log: Log
  port: RouterPort
  /** Shared with discovery and connection tests; closed by whoever made it, after `stop`. */
  upstream: Upstream
  /** The setting for the largest request body, on the wire and decoded. */
  bodyCapBytes(): number
  /** Whose connections are admitted on Linux; this process's own uid by default. */
  uid?: number
}

export interface Router {
  /**
   * Listens on 127.0.0.1 if it does not yet; later calls answer the same port. `pinnedPort`: an agent that outlived us
   * still holds it, so no other will do.
   * @throws AppError `route_listener_failed`.
   */
  ensureListening(options?: { pinnedPort?: number }): Promise<{ port: number }>
  /** Null: not listening. */
  port(): number | null
  /** Running exchanges, of one route or of all. */
  flights(routeDigest?: string): number
  /** Ends a released route's running exchanges. */
  abortRoute(routeDigest: string): void
  /** Refuses what is new, gives running exchanges 2 s (less if the signal aborts), then cuts them. */
  stop(signal: AbortSignal): Promise<void>
}
