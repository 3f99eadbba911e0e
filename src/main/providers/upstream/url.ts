/** The upstream's address of an API path. */

/** A session asks the same few again and again, and to parse one takes longer than all else about it. */
const known = new Map<string, URL>()
const MAX_KNOWN = 64
const MAX_NAME = 1_024

/** `makeUrl`, once for each. The URL is shared: it is read, never changed. */
export function upstreamUrl(base: string, apiPath: string, query: string): URL {
  const name = `${base}\n${apiPath}\n${query}`
  const before = known.get(name)
  if (before !== undefined) return before
  const url = makeUrl(base, apiPath, query)
  if (name.length > MAX_NAME) return url
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(name, url)
  return url
}

/**
 * `base` + `apiPath` (which begins with `/v1/`), its `/v1` dropped where the base already ends in a version; `query` with
 * its question mark, or empty.
 */
function makeUrl(base: string, apiPath: string, query: string): URL {
  const address = base.trim()
  const origin = /^[a-z]+:\/\/[^/]*/i.exec(address)?.[0] ?? ''
  const prefix = address.slice(origin.length).replace(/\/+$/, '')
  const versioned = /\/v\d+$/.test(prefix)
  // Parsed once, whole: a URL that is changed afterwards is parsed again at each change.
  const url = new URL(origin + prefix + (versioned ? apiPath.replace(/^\/v1(?=\/)/, '') : apiPath))
  if (query !== '') url.search = query
  return url
}
