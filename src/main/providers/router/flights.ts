/** Running exchanges: counted per route, bounded, and cut when their route goes. */
import { AppError } from '../../../shared/errors.ts'

const MAX_PER_ROUTE = 128
const MAX_ALL = 1_024

export interface Flights {
  /** Synchronous. @throws AppError `route_overloaded`. */
  begin(routeDigest: string): Flight
  count(routeDigest?: string): number
  abort(routeDigest: string | null, reason: AppError): void
  /** Resolves when none runs. */
  idle(): Promise<void>
}

export interface Flight {
  /** Aborts when the route is released or the Router stops. */
  readonly signal: AbortSignal
  cut(reason: unknown): void
  end(): void
}

export function createFlights(): Flights {
  const byRoute = new Map<string, Set<AbortController>>()
  let all = 0
  let waiting: (() => void)[] = []

  function end(routeDigest: string, controller: AbortController): void {
    const flights = byRoute.get(routeDigest)
    if (flights?.delete(controller) !== true) return
    if (flights.size === 0) byRoute.delete(routeDigest)
    all--
    if (all > 0) return
    for (const resolve of waiting) resolve()
    waiting = []
  }

  return {
    begin(routeDigest) {
      const flights = byRoute.get(routeDigest) ?? new Set()
      if (flights.size >= MAX_PER_ROUTE || all >= MAX_ALL) {
        throw new AppError('route_overloaded', 'Too many requests run at once. Try again in a moment.')
      }
      const controller = new AbortController()
      flights.add(controller)
      byRoute.set(routeDigest, flights)
      all++
      return {
        signal: controller.signal,
        cut: (reason) => controller.abort(reason),
        end: () => end(routeDigest, controller),
      }
    },
    count: (routeDigest) => (routeDigest === undefined ? all : (byRoute.get(routeDigest)?.size ?? 0)),
    abort(routeDigest, reason) {
      const routes = routeDigest === null ? [...byRoute.values()] : [byRoute.get(routeDigest) ?? []]
      for (const flights of routes) for (const controller of flights) controller.abort(reason)
    },
    idle: () => (all === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}
