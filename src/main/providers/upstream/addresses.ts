/** Where an upstream may be: verdicts over names and addresses, as pure functions. Nothing here dials or resolves. */
import { isIP } from 'node:net'
import { AppError } from '../../../shared/errors.ts'
import type { AddressVerdict, BlockedReason } from './types.ts'

interface Range {
  readonly bytes: readonly number[]
  readonly bits: number
  readonly reason: BlockedReason
}

const BLOCKED: readonly Range[] = [
  range('169.254.169.254', 32, 'metadata'),
  range('100.100.100.200', 32, 'metadata'),
  range('192.0.0.192', 32, 'metadata'),
  range('169.254.0.0', 16, 'link_local'),
  range('0.0.0.0', 8, 'unspecified'),
  range('224.0.0.0', 4, 'multicast'),
  range('240.0.0.0', 4, 'reserved'),
  range('fd00:ec2::254', 128, 'metadata'),
  range('fe80::', 10, 'link_local'),
  range('ff00::', 8, 'multicast'),
  range('::', 128, 'unspecified'),
]

/** IPv6 ranges that carry an IPv4 address: judged by that one. */
const EMBEDDING: readonly { range: Range; at: number }[] = [
  { range: range('::ffff:0:0', 96, 'reserved'), at: 12 },
  { range: range('64:ff9b::', 96, 'reserved'), at: 12 },
  { range: range('2002::', 16, 'reserved'), at: 2 },
  // Deprecated, and still understood by some systems; `::` and `::1` are themselves.
  { range: range('::', 96, 'reserved'), at: 12 },
]

const LOOPBACK_V4 = range('127.0.0.0', 8, 'implicit_loopback')
const LOOPBACK_V6 = range('::1', 128, 'implicit_loopback')
const METADATA_NAME = 'metadata.google.internal'

/**
 * An IP address without brackets; a zone (`%eth0`) is ignored. Loopback is allowed here and marked: whether it was asked
 * for by name is the caller's to know.
 */
export function judgeAddress(address: string): AddressVerdict {
  const bytes = parseAddress(address.split('%', 1)[0] ?? '')
  if (bytes === null) return { kind: 'blocked', reason: 'not_an_address' }
  const judged = embeddedV4(bytes) ?? bytes
  const blocked = BLOCKED.find((candidate) => contains(candidate, judged))
  if (blocked !== undefined) return { kind: 'blocked', reason: blocked.reason }
  return { kind: 'allowed', loopback: contains(LOOPBACK_V4, judged) || contains(LOOPBACK_V6, judged) }
}

/** A URL's `hostname` (brackets or not): literals are judged whole, names as far as a name says it. */
export function judgeHost(hostname: string): AddressVerdict {
  const host = bareHost(hostname)
  if (isIP(host) !== 0) return judgeAddress(host)
  if (isLocalhostName(host)) return { kind: 'allowed', loopback: true }
  if (host === METADATA_NAME) return { kind: 'blocked', reason: 'metadata' }
  return { kind: 'allowed', loopback: false }
}

/** An address that `hostname` resolved to: loopback is only for hosts that say so themselves. */
export function judgeResolved(hostname: string, address: string): AddressVerdict {
  const verdict = judgeAddress(address)
  if (verdict.kind === 'blocked' || !verdict.loopback) return verdict
  const host = judgeHost(hostname)
  return host.kind === 'allowed' && host.loopback ? verdict : { kind: 'blocked', reason: 'implicit_loopback' }
}

/** `localhost` and `*.localhost` are loopback by definition and never resolved. */
export function isLocalhostName(hostname: string): boolean {
  const host = bareHost(hostname)
  return host === 'localhost' || host.endsWith('.localhost')
}

/**
 * A base address as saved: parsed, judged, and no listener of ours. Answers the parsed URL.
 * @throws AppError `model_profile_invalid` (no http(s) URL, user info, query, fragment, our own port),
 * `upstream_address_blocked`.
 */
export function checkBaseUrl(baseUrl: string, ownPorts: ReadonlySet<number>): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw invalid('The address must be an http or https URL.')
  }
  if (url.username !== '' || url.password !== '') throw invalid('The address must not hold a user name or password.')
  if (url.search !== '' || url.hash !== '' || baseUrl.includes('?') || baseUrl.includes('#')) {
    throw invalid('The address must not have a query or fragment.')
  }
  const verdict = judgeHost(url.hostname)
  if (verdict.kind === 'blocked') throw blockedError(url.hostname, verdict.reason)
  if (verdict.loopback && ownPorts.has(portOf(url))) throw invalid('This address is Wheelhouse itself.')
  return url
}

export function blockedError(hostname: string, reason: BlockedReason): AppError {
  return new AppError('upstream_address_blocked', 'Wheelhouse does not connect to this address. Use another one.', {
    detail: `${bareHost(hostname)}: ${reason}`,
  })
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}

function bareHost(hostname: string): string {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return host.toLowerCase().replace(/\.$/, '')
}

function embeddedV4(bytes: readonly number[]): readonly number[] | null {
  if (bytes.slice(0, -1).every((byte) => byte === 0) && (bytes.at(-1) ?? 0) <= 1) return null
  const found = EMBEDDING.find((candidate) => contains(candidate.range, bytes))
  return found === undefined ? null : bytes.slice(found.at, found.at + 4)
}

function contains(candidate: Range, bytes: readonly number[]): boolean {
  if (candidate.bytes.length !== bytes.length) return false
  let left = candidate.bits
  for (const [index, byte] of candidate.bytes.entries()) {
    if (left <= 0) return true
    const mask = left >= 8 ? 0xff : (0xff << (8 - left)) & 0xff
    if (((bytes[index] ?? 0) & mask) !== (byte & mask)) return false
    left -= 8
  }
  return true
}

function range(address: string, bits: number, reason: BlockedReason): Range {
  return { bytes: parseAddress(address) ?? [], bits, reason }
}

/** 4 or 16 bytes; null: no IP address. */
function parseAddress(address: string): number[] | null {
  const family = isIP(address)
  if (family === 4) return address.split('.').map(Number)
  if (family !== 6) return null
  const [head = '', tail] = address.split('::', 2)
  const left = groups(head)
  const right = tail === undefined ? [] : groups(tail)
  return [...left, ...Array<number>(16 - left.length - right.length).fill(0), ...right]
}

function groups(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number)
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}

function invalid(message: string): AppError {
  return new AppError('model_profile_invalid', message)
}
