/** Which headers pass, in both directions. */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Secret } from '../../platform/types.ts'
import { blankText, headerText } from '../upstream/index.ts'
import type { AnswerHeaders } from '../upstream/index.ts'

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
  const names = raw.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : ''))
  const named = namedByConnection(names, raw)
  const headers: Record<string, string | string[]> = { 'accept-encoding': 'identity' }
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = names[index] ?? ''
    if (DROPPED_INBOUND.has(name) || named.includes(name) || startsWithOneOf(name, DROPPED_INBOUND_PREFIXES)) continue
    if (name === 'content-encoding' && !keepEncoding) continue
    const value = raw[index + 1] ?? ''
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined
    headers[name] = before === undefined ? value : [before, value].flat()
  }
  return headers
}

/** What of the upstream's headers reaches the agent; the key in none of them. */
export function agentHeaders(upstream: AnswerHeaders, key: Secret | null): OutgoingHttpHeaders {
  const named = tokensOf(headerText(upstream, 'connection'))
  const headers: OutgoingHttpHeaders = {}
  for (const name of Object.keys(upstream)) {
    const value = upstream[name]
    if (value === undefined || DROPPED_OUTBOUND.has(name) || named.includes(name)) continue
    if (startsWithOneOf(name, DROPPED_OUTBOUND_PREFIXES)) continue
    headers[name] = typeof value === 'string' ? blankText(value, key) : value.map((each) => blankText(each, key))
  }
  return headers
}

function namedByConnection(names: readonly string[], raw: readonly string[]): readonly string[] {
  if (!names.includes('connection')) return []
  return raw.filter((_, index) => names[index - 1] === 'connection').flatMap(tokensOf)
}

function tokensOf(value: string | undefined): readonly string[] {
  // What nearly every connection says, and it names no header.
  if (value === undefined || value === 'keep-alive') return []
  return value.split(',').map((token) => token.trim().toLowerCase())
}

function startsWithOneOf(name: string, prefixes: readonly string[]): boolean {
  for (const prefix of prefixes) if (name.startsWith(prefix)) return true
  return false
}
