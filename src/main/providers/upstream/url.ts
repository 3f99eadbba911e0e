/** The upstream's address of an API path. */

/**
 * `base` + `apiPath` (which begins with `/v1/`), its `/v1` dropped where the base already ends in a version; `query` with
 * its question mark, or empty.
 */
export function upstreamUrl(base: string, apiPath: string, query: string): URL {
  const address = base.trim()
  const origin = /^[a-z]+:\/\/[^/]*/i.exec(address)?.[0] ?? ''
  const prefix = address.slice(origin.length).replace(/\/+$/, '')
  const versioned = /\/v\d+$/.test(prefix)
  // Parsed once, whole: a URL that is changed afterwards is parsed again at each change.
  const url = new URL(origin + prefix + (versioned ? apiPath.replace(/^\/v1(?=\/)/, '') : apiPath))
  if (query !== '') url.search = query
  return url
}
