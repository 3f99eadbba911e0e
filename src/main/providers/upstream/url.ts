/** The upstream's address of an API path. */

/**
 * `base` + `apiPath` (which begins with `/v1/`), its `/v1` dropped where the base already ends in a version; `query` with
 * its question mark, or empty.
 */
export function upstreamUrl(base: string, apiPath: string, query: string): URL {
  const url = new URL(base)
  const prefix = url.pathname.replace(/\/+$/, '')
  const versioned = /\/v\d+$/.test(prefix)
  url.pathname = prefix + (versioned ? apiPath.replace(/^\/v1(?=\/)/, '') : apiPath)
  url.search = query
  return url
}
