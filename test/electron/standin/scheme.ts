import { app } from './app.ts'
import { note } from './record.ts'

type Handler = (request: Request) => Promise<Response> | Response
const handlers = new Map<string, Handler>()

export const protocol = {
  registerSchemesAsPrivileged(schemes: unknown): void {
    app.mustNotBeReady('protocol.registerSchemesAsPrivileged')
    note('protocol.registerSchemesAsPrivileged', schemes)
  },
  handle(scheme: string, handler: Handler): void {
    if (handlers.has(scheme)) throw new Error(`The scheme has been intercepted: ${scheme}`)
    handlers.set(scheme, handler)
  },
}

/** Chromium cannot go to a scheme that it does not know: `app://host/x` is shown as `http://app.host.localhost/x`. */
export function shownUrl(url: string): string {
  const parsed = new URL(url)
  const scheme = parsed.protocol.slice(0, -1)
  if (!handlers.has(scheme)) return parsed.href
  return `http://${scheme}.${parsed.host}.localhost${parsed.pathname}${parsed.search}${parsed.hash}`
}

/** The way back: what the app knows a page's address as. */
export function realUrl(url: string): string {
  const match = /^http:\/\/([^./]+)\.([^/]+)\.localhost(\/.*)?$/.exec(url)
  if (match === null || !handlers.has(match[1] ?? '')) return url
  return `${match[1]}://${match[2]}${match[3] ?? '/'}`
}

/** As `WebFrameMain.origin` says it: also for a scheme that `URL` gives no origin to. */
export function originOf(url: string): string {
  if (!URL.canParse(url)) return 'null'
  const parsed = new URL(url)
  return handlers.has(parsed.protocol.slice(0, -1)) ? `${parsed.protocol}//${parsed.host}` : parsed.origin
}

/** Null: no scheme of the app's own. */
export function answerOf(url: string, method: string): Promise<Response> | null {
  const real = realUrl(url)
  const handler = handlers.get(new URL(real).protocol.slice(0, -1))
  return handler === undefined ? null : Promise.resolve(handler(new Request(real, { method })))
}
