import { readFile } from 'node:fs/promises'
import type { Protocol } from 'electron'
import { contentType, resolveStatic, SECURITY_HEADERS } from '../renderer-files/index.ts'

export const SCHEME = 'app'
export const HOST = 'wheelhouse'
export const ORIGIN = `${SCHEME}://${HOST}`

/** Call before the app is ready: the page then has an origin of its own and a secure context. */
export function registerAppScheme(protocol: Pick<Protocol, 'registerSchemesAsPrivileged'>): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ])
}

/** Serves the built renderer at `app://wheelhouse/`, with path containment and the content policy. Nothing else is served. */
export function serveAppScheme(protocol: Pick<Protocol, 'handle'>, rendererDir: string): void {
  protocol.handle(SCHEME, async (request) => {
    const refused = new Response(null, { status: 404, headers: SECURITY_HEADERS })
    const { host, pathname } = new URL(request.url)
    if (host !== HOST || (request.method !== 'GET' && request.method !== 'HEAD')) return refused
    const path = resolveStatic(rendererDir, pathname)
    const type = path === null ? null : contentType(path)
    if (path === null || type === null) return refused
    const bytes = await readFile(path).catch(() => null)
    if (bytes === null) return refused
    return new Response(new Uint8Array(bytes), { headers: { ...SECURITY_HEADERS, 'content-type': type } })
  })
}
