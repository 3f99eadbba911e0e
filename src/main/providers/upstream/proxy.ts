/** Whether a request leaves by a proxy, and by which one. Loopback never does. */
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

/** `*`, or names and addresses with an optional port, each for itself and what lies below it. */
function isExempt(list: string, url: URL): boolean {
  const host = url.hostname.toLowerCase()
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true
    const [, name = '', onPort] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
    if (name === '' || (onPort !== undefined && onPort !== port)) return false
    return host === name || host.endsWith(`.${name}`)
  })
}
