/** Who may talk to the Router: loopback names only, no page of a browser, and the route id as the credential. */
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../../shared/errors.ts'
import type { Target } from './paths.ts'
import type { RouteBinding, RouterPort } from './types.ts'

/** A local program that names loopback; no page of a browser, wherever it came from. */
export function isLocalSender(headers: IncomingHttpHeaders, port: number): boolean {
  const { host, origin } = headers
  const site = headers['sec-fetch-site']
  const named = host === `127.0.0.1:${port}` || host === `localhost:${port}`
  return named && origin === undefined && (site === undefined || site === 'none')
}

/** @throws AppError `route_not_found` (an id in the path), `route_admission_denied` (no header holds a known id). */
export function admit(target: Target, headers: IncomingHttpHeaders, port: Pick<RouterPort, 'binding'>): RouteBinding {
  if (target.routeId !== null) {
    const binding = port.binding(routeDigest(target.routeId))
    if (binding !== null) return binding
    throw new AppError('route_not_found', 'This session’s route is gone. Start the session again in Wheelhouse.')
  }
  for (const candidate of routeIdsOf(headers)) {
    const binding = port.binding(routeDigest(candidate))
    if (binding !== null) return binding
  }
  throw new AppError('route_admission_denied', 'This request carries no key of a running session.')
}

/** Routes are kept by the digest of their id alone. */
export function routeDigest(routeId: string): string {
  return hash('sha256', routeId, 'base64url')
}

function routeIdsOf(headers: IncomingHttpHeaders): string[] {
  const bearer = /^Bearer +([A-Za-z0-9_-]{43})$/i.exec(headers.authorization ?? '')?.[1]
  const apiKey = headers['x-api-key']
  const ids = bearer === undefined ? [] : [bearer]
  if (typeof apiKey === 'string' && /^[A-Za-z0-9_-]{43}$/.test(apiKey)) ids.push(apiKey)
  return ids
}
