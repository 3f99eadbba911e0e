/** The loopback Router: the one address that agents reach, and the only way from there to a Provider. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../../shared/errors.ts'
import { admit } from './admission.ts'
import { MAX_BUFFERED_BYTES, createBufferPool } from './budget.ts'
import { runExchange } from './exchange.ts'
import { createFlights } from './flights.ts'
import { createListener } from './listener.ts'
import { modelsAnswer } from './models.ts'
import { dialectOf, findHandling, isProbe, isResponsesPost, parseTarget, wrongMethod } from './paths.ts'
import { createReachability } from './reachability.ts'
import { createTunnels } from './tunnels.ts'
import type { Router, RouterDeps } from './types.ts'

const STOP_GRACE_MS = 2_000

export function createRouter(deps: RouterDeps): Router {
  const { clock, log, port } = deps
  const flights = createFlights()
  let requests = 0
  let stopping = false
  let listening: Promise<number> | null = null

  const exchangeDeps = {
    clock,
    log,
    port,
    upstream: deps.upstream,
    reachability: createReachability(clock),
    bodyCapBytes: () => deps.bodyCapBytes(),
    newBudget: createBufferPool(MAX_BUFFERED_BYTES),
    nextNumber: () => ++requests,
  }

  const tunnels = createTunnels({ ...exchangeDeps, flights, isStopping: () => stopping || !port.ready() })
  const listener = createListener({
    clock,
    log,
    uid: deps.uid,
    name: 'Router',
    dialect: ({ method = '', url = '' }) => ({ dialect: dialectOf(url), responsesPost: isResponsesPost(method, url) }),
    serve,
    upgrade: (request, socket, head) => tunnels.take(request, socket, head),
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request
    if (isProbe(method, url)) return void response.writeHead(204).end()
    if (method === 'OPTIONS') throw wrongMethod('GET, HEAD, POST')
    const target = parseTarget(url)
    if (stopping || !port.ready()) {
      throw new AppError('model_profiles_unavailable', 'Providers is not running. Open Wheelhouse and try again.')
    }
    const binding = admit(target, request.headers, port)
    const handling = findHandling(method, target.path, binding.routeProtocol)
    if (handling.kind === 'models') {
      const body = modelsAnswer(binding, target.query, port)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
      return
    }
    const flight = flights.begin(binding.routeDigest)
    await runExchange(exchangeDeps, {
      binding,
      endpoint: handling.endpoint,
      target,
      request,
      response,
      flight,
      refuse: (error, retry) => listener.refuse(request, response, error, retry === undefined ? {} : { retry }),
    })
  }

  return {
    async ensureListening(options = {}) {
      if (stopping) throw new AppError('model_profiles_unavailable', 'Providers is stopping.')
      if (listening === null) {
        listening = listener.listen(options.pinnedPort ?? 0)
        listening.catch(() => (listening = null))
      }
      return { port: await listening }
    },
    port: () => listener.port(),
    flights: (digest) => flights.count(digest),
    abortRoute(digest) {
      tunnels.close(digest)
      flights.abort(digest, new AppError('route_not_found', 'This session has ended.'))
    },
    async stop(signal) {
      stopping = true
      listener.close()
      tunnels.close(null)
      await Promise.race([flights.idle(), graceOver(signal)])
      flights.abort(null, new AppError('model_profiles_unavailable', 'Wheelhouse is stopping.'))
      listener.cut()
    },
  }

  function graceOver(signal: AbortSignal): Promise<void> {
    return clock.sleep(STOP_GRACE_MS, signal).catch(() => undefined)
  }
}
