/** Which headers pass, in both directions. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'

const HOP_BY_HOP = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade']

const DROPPED_INBOUND: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'host',
  'content-length',
  'expect',
  'accept-encoding',
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-auth-token',
  'x-amz-security-token',
  'cookie',
  'origin',
  'referer',
  'forwarded',
  'via',
  'x-real-ip',
  'chatgpt-account-id',
  'openai-organization',
  'openai-project',
])
const DROPPED_INBOUND_PREFIXES = ['proxy-', 'sec-', 'x-forwarded-', 'x-wheelhouse-']

const DROPPED_OUTBOUND: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'set-cookie',
  'alt-svc',
  'strict-transport-security',
])
const DROPPED_OUTBOUND_PREFIXES = ['proxy-', 'access-control-', 'x-wheelhouse-']

/**
 * What of the agent's headers goes upstream, values byte for byte. Whatever came as auth is not among it; ours is added by
 * the header writer. `keepEncoding`: the body goes on as it was encoded.
 */
export function upstreamHeaders(raw: readonly string[], keepEncoding: boolean): Record<string, string | string[]> {
  const named = namedByConnection(raw)
  const headers: Record<string, string | string[]> = { 'accept-encoding': 'identity' }
  for (const [name, value] of pairs(raw)) {
    if (DROPPED_INBOUND.has(name) || named.has(name)) continue
    if (DROPPED_INBOUND_PREFIXES.some((prefix) => name.startsWith(prefix))) continue
    if (name === 'content-encoding' && !keepEncoding) continue
    const before = headers[name]
    headers[name] = before === undefined ? value : [before, value].flat()
  }
  return headers
}

/** What of the upstream's headers reaches the agent. */
export function agentHeaders(upstream: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = new Set((upstream.connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
  const headers: OutgoingHttpHeaders = {}
  for (const [name, value] of Object.entries(upstream)) {
    if (value === undefined || DROPPED_OUTBOUND.has(name) || named.has(name)) continue
    if (DROPPED_OUTBOUND_PREFIXES.some((prefix) => name.startsWith(prefix))) continue
    headers[name] = value
  }
  return headers
}

function namedByConnection(raw: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [name, value] of pairs(raw)) {
    if (name === 'connection') for (const token of value.split(',')) names.add(token.trim().toLowerCase())
  }
  return names
}

function* pairs(raw: readonly string[]): Generator<[name: string, value: string]> {
  for (let index = 0; index + 1 < raw.length; index += 2) {
    yield [(raw[index] ?? '').toLowerCase(), raw[index + 1] ?? '']
  }
}
