/** The Router's small grammar of targets, and what it serves where. */
import { AppError } from '../../../shared/errors.ts'
import type { Endpoint, RouteProtocol } from './types.ts'

const TARGET = /^(?:\/r\/([A-Za-z0-9_-]{43}))?(\/v1\/[a-z_/]+)$/
const PROBE = /^\/(?:r\/[A-Za-z0-9_-]{43}\/?)?$/
const MAX_QUERY = 8_192

export interface Target {
  /** The route id in the path; null: it comes as a header. */
  readonly routeId: string | null
  /** From `/v1` on. */
  readonly path: string
  /** With its question mark, or empty. Passed on unchanged. */
  readonly query: string
}

/** @throws AppError `route_path_mismatch`. */
export function parseTarget(raw: string): Target {
  const mark = raw.indexOf('?')
  const target = mark === -1 ? raw : raw.slice(0, mark)
  const query = mark === -1 ? '' : raw.slice(mark)
  const match = TARGET.exec(target)
  if (match === null || match[2] === undefined || target.includes('//') || query.length > MAX_QUERY) {
    throw new AppError('route_path_mismatch', 'This address is not one that Wheelhouse hands to agents.')
  }
  return { routeId: match[1] ?? null, path: match[2], query }
}

/** Claude Code asks `HEAD` of its base address at start, without a key. */
export function isProbe(method: string, raw: string): boolean {
  return method === 'HEAD' && PROBE.test(raw)
}

export type Handling =
  | { readonly kind: 'proxied'; readonly endpoint: Endpoint; readonly protocol: RouteProtocol; readonly method: 'POST' }
  | { readonly kind: 'models'; readonly method: 'GET' }

const HANDLINGS: Readonly<Record<string, Handling>> = {
  '/v1/responses': { kind: 'proxied', endpoint: 'responses', protocol: 'responses', method: 'POST' },
  '/v1/responses/compact': { kind: 'proxied', endpoint: 'responses_compact', protocol: 'responses', method: 'POST' },
  '/v1/messages': { kind: 'proxied', endpoint: 'messages', protocol: 'anthropic_messages', method: 'POST' },
  '/v1/messages/count_tokens': {
    kind: 'proxied',
    endpoint: 'count_tokens',
    protocol: 'anthropic_messages',
    method: 'POST',
  },
  '/v1/models': { kind: 'models', method: 'GET' },
}

/** @throws AppError `route_endpoint_unsupported`, `route_method_not_allowed` (`data.allow`), `route_protocol_mismatch`. */
export function findHandling(method: string, path: string, protocol: RouteProtocol): Handling {
  const handling = Object.hasOwn(HANDLINGS, path) ? HANDLINGS[path] : undefined
  if (handling === undefined) {
    throw new AppError('route_endpoint_unsupported', 'Wheelhouse does not serve this API path.', { detail: path })
  }
  if (method !== handling.method) throw wrongMethod(handling.method)
  if (handling.kind === 'proxied' && handling.protocol !== protocol) {
    throw new AppError('route_protocol_mismatch', 'This session runs on the other API. Check the agent’s Provider.')
  }
  return handling
}

export function wrongMethod(allow: string): AppError {
  return new AppError('route_method_not_allowed', 'This method is not served here.', { data: { allow } })
}

/** Whose error form a path's client reads. */
export function dialectOf(raw: string): RouteProtocol {
  return /^(?:\/r\/[^/?]*)?\/v1\/messages(?:[/?]|$)/.test(raw) ? 'anthropic_messages' : 'responses'
}

/** Codex repeats every refusal of these but a 400. */
export function isResponsesPost(method: string, raw: string): boolean {
  return method === 'POST' && /^(?:\/r\/[^/?]*)?\/v1\/responses(?:[/?]|$)/.test(raw)
}
