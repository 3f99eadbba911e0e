/** Whether a request leaves by a proxy, and by which one. Loopback never does. */
import { BlockList, isIP } from 'node:net'
import { AppError } from '../../../shared/errors.ts'
import { judgeHost } from './addresses.ts'

/** The setting `upstreamProxy`: `none`, `system` or an http(s) address. */
export type ProxySetting = string

type Environment = Readonly<Record<string, string | undefined>>

/** Null: directly. @throws AppError `upstream_invalid`: the system names a proxy of a kind that is not spoken here. */
export function proxyFor(setting: ProxySetting, environment: Environment, url: URL): string | null {
  if (setting === 'none') return null
  const host = judgeHost(url.hostname)
  if (host.kind === 'allowed' && host.loopback) return null
  if (setting !== 'system') return setting
  const named = systemProxy(environment, url)
  if (named === null) return null
  const proxy = named.includes('://') ? named : `http://${named}`
  if (URL.canParse(proxy) && /^https?:$/.test(new URL(proxy).protocol)) return proxy
  throw new AppError(
    'upstream_invalid',
    'The proxy that this machine names is not an http one. Set another in Settings.',
  )
}

/** What this machine's variables say, whatever the setting; null: nothing, or not for this address. */
export function systemProxy(environment: Environment, url: URL): string | null {
  const read = (name: string): string => environment[name.toLowerCase()] || environment[name] || ''
  if (isExempt(read('NO_PROXY'), url)) return null
  const named = read(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') || read('ALL_PROXY')
  return named === '' ? null : named
}

/** `*`, or names, addresses and networks, a name for itself and what lies below it; a port behind it, or all. */
function isExempt(list: string, url: URL): boolean {
  const host = bareHost(url.hostname)
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true
    // An IPv6 address is full of colons: a port stands behind its brackets alone.
    const [, plain, onPort] = isIP(entry) === 6 ? [] : (/^(.*):(\d+)$/.exec(entry) ?? [])
    if (onPort !== undefined && onPort !== port) return false
    const name = bareHost((plain ?? entry).replace(/^\*?\./, ''))
    return name !== '' && (host === name || host.endsWith(`.${name}`) || isWithin(name, host))
  })
}

function bareHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}

/** `10.0.0.0/8`, `fd00::/8`. */
function isWithin(network: string, host: string): boolean {
  const [, address = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(network) ?? []
  const family = isIP(address)
  if (family === 0 || isIP(host) !== family || Number(bits) > (family === 4 ? 32 : 128)) return false
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(address, Number(bits), kind)
  return list.check(host, kind)
}
