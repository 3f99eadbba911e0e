/** Who may speak to the browser host: names and origins. A rebinding name, another page and another port get nothing. */

const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::(\d{1,5}))?$/

/**
 * A loopback name with any port: behind an SSH tunnel the browser's port is not ours. Null for every other name, which is
 * what a rebinding attack brings.
 */
export function loopbackHost(header: string | undefined): string | null {
  if (header === undefined) return null
  const host = header.toLowerCase()
  const port = LOOPBACK.exec(host)
  if (port === null) return null
  return port[1] !== undefined && Number(port[1]) > 65_535 ? null : host
}

/** The page that calls must be the one this host served, under the very name and port it was asked by. */
export function sameOrigin(origin: string | undefined, host: string): boolean {
  return origin?.toLowerCase() === `http://${host}`
}

/**
 * The path that a request's target names, without its query; null: no target that this host serves. An absolute one
 * (`http://…`) names a host of its own beside the header that was judged, and `//[` is no address at all.
 */
export function pathOf(target: string | undefined): string | null {
  if (target === undefined || !target.startsWith('/')) return null
  return target.split(/[?#]/, 1)[0] ?? null
}
