/** The gateway's small grammar of targets: whose request it is, and what goes on. */
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../../shared/errors.ts'
import type { Endpoint, RouteProtocol } from '../router/types.ts'

const TARGET = /^(?:\/k\/([A-Za-z0-9_-]{1,128})|(\/claude))?(\/v1\/[A-Za-z0-9_\-/]+)$/
const PROBE = /^\/(?:claude\/?)?$/
const MAX_QUERY = 8_192

export type GatewayClient = 'codex' | 'claude'

export interface GatewayTarget {
  readonly client: GatewayClient
  /** The local key in the path; null: it comes as a header. */
  readonly key: string | null
  /** From `/v1` on. */
  readonly path: string
  /** With its question mark, or empty. Passed on unchanged. */
  readonly query: string
}

/** @throws AppError `route_path_mismatch`, `route_endpoint_unsupported`. */
export function parseGatewayTarget(raw: string): GatewayTarget {
  const mark = raw.indexOf('?')
  const target = mark === -1 ? raw : raw.slice(0, mark)
  const query = mark === -1 ? '' : raw.slice(mark)
  if (/%|\\|\/\/|\/\.\.?(?:\/|$)/.test(target) || !target.startsWith('/') || query.length > MAX_QUERY) {
    throw new AppError('route_path_mismatch', 'This address is not one that Wheelhouse hands to agents.')
  }
  const [, key = null, claude, path] = TARGET.exec(target) ?? []
  if (path === undefined) {
    throw new AppError('route_endpoint_unsupported', 'Wheelhouse does not serve this path.')
  }
  return { client: claude === undefined ? 'codex' : 'claude', key, path, query }
}

/** Claude Code asks `HEAD` of its base address at start, without a key. */
export function isGatewayProbe(method: string, raw: string): boolean {
  return method === 'HEAD' && PROBE.test(raw)
}

export function protocolOf(client: GatewayClient): RouteProtocol {
  return client === 'codex' ? 'responses' : 'anthropic_messages'
}

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/v1/responses': 'responses',
  '/v1/responses/compact': 'responses_compact',
  '/v1/messages': 'messages',
  '/v1/messages/count_tokens': 'count_tokens',
}

export function endpointOf(path: string): Endpoint {
  return Object.hasOwn(ENDPOINTS, path) ? (ENDPOINTS[path] ?? 'other') : 'other'
}

/** Whose error form the client of a raw target reads, and whether it is Codex that repeats all but a 400. */
export function gatewayDialect(method: string, raw: string): { dialect: RouteProtocol; responsesPost: boolean } {
  const isClaude = /^\/claude(?:[/?]|$)/.test(raw)
  return {
    dialect: isClaude ? 'anthropic_messages' : 'responses',
    responsesPost: method === 'POST' && /^(?:\/k\/[^/?]*)?\/v1\/responses(?:[/?]|$)/.test(raw),
  }
}

/** Each place where a client may carry the local key. */
export function keysOf(headers: IncomingHttpHeaders, inPath: string | null): readonly string[] {
  const bearer = /^Bearer +(\S{1,128})$/i.exec(headers.authorization ?? '')?.[1]
  const named = [headers['x-wheelhouse-gateway-key'], headers['x-api-key'], bearer, inPath]
  return named.filter((value): value is string => typeof value === 'string' && value.length <= 128 && value !== '')
}
