/**
 * WebSockets between an agent and its Provider. Each `response.create` is judged as the body of a POST is, and is one
 * flight until its terminal event. A socket lives as long as its binding: after a change the agent has to connect anew.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { AppError } from '../../../shared/errors.ts'
import type { Secret } from '../../platform/types.ts'
import { upstreamUrl } from '../upstream/index.ts'
import { admit } from './admission.ts'
import type { ExchangeDeps } from './exchange.ts'
import type { Flights } from './flights.ts'
import { upstreamHeaders } from './headers.ts'
import { parseTarget } from './paths.ts'
import { asAppError } from './refusals.ts'
import { createTunnel } from './tunnel.ts'
import type { Tunnel } from './tunnel.ts'
import type { RouteBinding } from './types.ts'

export interface TunnelsDeps extends ExchangeDeps {
  readonly flights: Flights
  isStopping(): boolean
}

export interface Tunnels {
  /** False: the upgrade is not carried, and whoever asked answers it. */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<boolean>
  /** Of one route, or all: the agent is told to go. */
  close(routeDigest: string | null): void
}

export function createTunnels(deps: TunnelsDeps): Tunnels {
  const open = new Map<Tunnel, string>()
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: deps.bodyCapBytes(),
  })

  async function take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<boolean> {
    if (deps.isStopping()) return false
    const target = parseTarget(request.url ?? '')
    const binding = admit(target, request.headers, deps.port)
    // A stripped history loses `previous_response_id`, on which every later message of a socket builds.
    const carried =
      target.path === '/v1/responses' && binding.routeProtocol === 'responses' && binding.historyPortability === null
    if (!carried || !deps.port.tunnelsWebSocket(binding)) return false
    if (request.headers['x-wheelhouse-hop'] !== undefined) return false
    const gone = new AbortController()
    const onClose = (): void => gone.abort(new AppError('aborted', 'The agent hung up.'))
    socket.once('close', onClose)
    let provider: WebSocket
    let key: Secret | null
    try {
      key = binding.authMode === 'none' ? null : await deps.port.key(binding, gone.signal)
      const base = deps.port.upstreamBaseUrl(binding)
      provider = await deps.upstream.openWebSocket(
        {
          url: upstreamUrl(base, target.path, target.query),
          headers: upstreamHeaders(request.rawHeaders, false),
          auth: { mode: binding.authMode, key },
          maxMessageBytes: deps.bodyCapBytes(),
        },
        gone.signal,
      )
    } catch (error) {
      if (gone.signal.aborted) return true
      deps.log.info('a WebSocket could not be carried; the agent falls back to requests', {
        code: asAppError(error).code,
      })
      return false
    } finally {
      socket.off('close', onClose)
    }
    server.handleUpgrade(request, socket, head, (agent) => join(binding, agent, provider, key))
    return true
  }

  function join(binding: RouteBinding, agent: WebSocket, provider: WebSocket, key: Secret | null): void {
    const tunnel = createTunnel(deps, { binding, agent, provider, key })
    open.set(tunnel, binding.routeDigest)
    agent.once('close', () => open.delete(tunnel))
    if (deps.isStopping() || deps.port.binding(binding.routeDigest) === null) tunnel.close(1001)
  }

  return {
    take,
    close(routeDigest) {
      for (const [tunnel, digest] of open) if (routeDigest === null || digest === routeDigest) tunnel.close(1001)
    },
  }
}
