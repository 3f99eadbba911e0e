/** Connects to a Provider: each resolved address is judged, and the judged address is the one that is dialled. */
import { lookup as systemLookup } from 'node:dns/promises'
import type { LookupFunction, Socket } from 'node:net'
import tls from 'node:tls'
import { callbackify } from 'node:util'
import { buildConnector } from 'undici'
import { AppError } from '../../../shared/errors.ts'
import { blockedError, isLocalhostName, judgeResolved } from './addresses.ts'
import type { LookupAddress } from './types.ts'

/** How much of a large body is handed to a socket at once: several chunks in one write. */
const AHEAD_BYTES = 262_144

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

/** `timeoutMs` bounds DNS, connect and TLS together; `connected` is told each connection. */
export function createConnector(options: {
  resolve: Resolve
  timeoutMs: number
  connected?: (socket: Socket) => void
}): buildConnector.connector {
  const shared = {
    timeout: options.timeoutMs,
    allowH2: false,
    autoSelectFamily: true,
    lookup: checkedLookup(options.resolve),
  }
  const plainOptions = { ...shared, highWaterMark: AHEAD_BYTES }
  const plain = buildConnector(plainOptions)
  let secure: buildConnector.connector | null = null
  return (target, done) => {
    const callback: buildConnector.Callback = (...answer) => {
      if (answer[0] === null) options.connected?.(answer[1])
      done(...answer)
    }
    if (target.protocol !== 'https:') return plain(target, callback)
    secure ??= buildConnector({ ...shared, secureContext: systemTrust() })
    return secure(target, callback)
  }
}

export const systemResolve: Resolve = async (hostname) => {
  const found = await systemLookup(hostname, { all: true, verbatim: true })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

/** One blocked address among the answers refuses the connect. */
export function checkedLookup(resolve: Resolve): LookupFunction {
  const find = callbackify(resolveChecked)
  return (hostname, options, callback) => {
    find(hostname, resolve, (error, addresses) => {
      const first = addresses?.[0]
      if (error !== null || first === undefined) callback(error, '')
      else if (options.all === true) callback(null, [...addresses])
      else callback(null, first.address, first.family)
    })
  }
}

async function resolveChecked(hostname: string, resolve: Resolve): Promise<readonly LookupAddress[]> {
  if (isLocalhostName(hostname)) return LOOPBACK
  const addresses = await resolve(hostname)
  for (const { address } of addresses) {
    const verdict = judgeResolved(hostname, address)
    if (verdict.kind === 'blocked') throw blockedError(hostname, verdict.reason)
  }
  if (addresses.length === 0) {
    throw new AppError('upstream_unreachable', 'The address of this Provider has no entry in DNS.', {
      detail: hostname,
    })
  }
  return addresses
}

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

let trust: tls.SecureContext | null = null

/** The bundled roots and those of the system: company networks sign with their own. Made once, since it parses them all. */
export function systemTrust(): tls.SecureContext {
  if (trust !== null) return trust
  const ca = [...tls.getCACertificates('default'), ...tls.getCACertificates('system')]
  trust = tls.createSecureContext({ ca: [...new Set(ca)] })
  return trust
}
