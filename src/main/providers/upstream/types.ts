/** How Wheelhouse reaches a Provider's API: which addresses, with whose key, within which bounds. */
import type { WebSocket } from 'ws'
import type { Secret } from '../../platform/types.ts'
import type { AnswerBody } from './answer-body.ts'

/** How the key travels. `none`: no key, no header. */
export type AuthMode = 'none' | 'bearer' | 'x_api_key'

export interface LookupAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** The verdict of a name or address, before anything is dialled. */
export type AddressVerdict =
  /** `loopback`: the user named loopback itself, so the connect may end there. */
  | { readonly kind: 'allowed'; readonly loopback: boolean }
  | { readonly kind: 'blocked'; readonly reason: BlockedReason }

export type BlockedReason =
  | 'link_local'
  | 'metadata'
  | 'multicast'
  | 'unspecified'
  | 'reserved'
  | 'implicit_loopback'
  | 'not_an_address'

export interface UpstreamAuth {
  readonly mode: AuthMode
  readonly key: Secret | null
}

export interface UpstreamRequest {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  /** Lower-case names. What `auth` adds is not in here. */
  readonly headers: Readonly<Record<string, string | string[]>>
  /** The body's bytes, in order; null: none. */
  readonly body: readonly Uint8Array[] | null
  readonly auth: UpstreamAuth
}

export interface WebSocketRequest {
  /** `http:` or `https:`, as for a request. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly auth: UpstreamAuth
  readonly maxMessageBytes: number
}

/** By lower-case name; any that came more than once is a list. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface UpstreamAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  /** Ends, with an error when the upstream was cut or fell silent. Destroying it closes the connection. */
  readonly body: AnswerBody
}

export interface JsonRequest {
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly auth: UpstreamAuth
  readonly timeoutMs: number
  readonly maxBytes: number
}

/** `value` is undefined when the body is no JSON. */
export interface JsonAnswer {
  readonly status: number
  readonly value: unknown
}

/** A pool of connections, one agent per origin. No redirect is followed, no proxy variable read, nothing retried. */
export interface Upstream {
  /**
   * Answers at the upstream's head.
   * @throws AppError `upstream_unreachable` (DNS, connect, TLS, cut before the head), `upstream_timeout` (no head in
   * time), `upstream_address_blocked`, `upstream_redirect_rejected` (3xx), `upstream_invalid`; the signal's reason.
   */
  send(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>
  /**
   * The exchange with this body is over, and nobody reads these chunks again: their memory is given back at once, unless
   * something may still be written from it.
   */
  spent(body: readonly Uint8Array[]): void
  /** One bounded GET for discovery and connection tests. @throws as `send`; `upstream_invalid` over `maxBytes`. */
  getJson(request: JsonRequest, signal: AbortSignal): Promise<JsonAnswer>
  /**
   * Open once the upstream took the upgrade; compression is off. Whoever asked for it closes it.
   * @throws AppError `upstream_unreachable` (an answer other than 101 too), `upstream_address_blocked`; the signal's reason.
   */
  openWebSocket(request: WebSocketRequest, signal: AbortSignal): Promise<WebSocket>
  /** Cuts what runs. */
  close(): Promise<void>
}
