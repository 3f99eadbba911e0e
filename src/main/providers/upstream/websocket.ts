/** Opens a WebSocket to a Provider, under the same rules as a request: judged addresses, no redirect, no proxy. */
import { WebSocket } from 'ws'
import { AppError } from '../../../shared/errors.ts'
import { blockedError, judgeHost } from './addresses.ts'
import { authHeaders } from './auth.ts'
import { checkedLookup, systemTrust } from './connector.ts'
import type { Resolve } from './connector.ts'
import type { WebSocketRequest } from './types.ts'

/** Resolves once the upstream took the upgrade. @throws AppError as `Upstream.openWebSocket`. */
export async function openWebSocket(
  request: WebSocketRequest,
  options: { resolve: Resolve; connectMs: number },
  signal: AbortSignal,
): Promise<WebSocket> {
  signal.throwIfAborted()
  const url = new URL(request.url)
  const verdict = judgeHost(url.hostname)
  if (verdict.kind === 'blocked') throw blockedError(url.hostname, verdict.reason)
  const secure = url.protocol === 'https:'
  url.protocol = secure ? 'wss:' : 'ws:'
  const socket = new WebSocket(url, {
    headers: {
      ...request.headers,
      ...authHeaders(request.auth),
      ...(verdict.loopback ? { 'x-wheelhouse-hop': '1' } : {}),
    },
    perMessageDeflate: false,
    followRedirects: false,
    handshakeTimeout: options.connectMs,
    maxPayload: request.maxMessageBytes,
    lookup: checkedLookup(options.resolve),
    ...(secure ? { secureContext: systemTrust() } : {}),
  })
  // It has another listener for as long as somebody uses it; an error after that only closes.
  socket.on('error', () => undefined)
  const opened = Promise.withResolvers<void>()
  const abort = (): void => socket.terminate()
  signal.addEventListener('abort', abort, { once: true })
  socket.once('open', () => opened.resolve())
  socket.once('unexpected-response', (_sent, answer) => {
    opened.reject(
      new AppError('upstream_unreachable', 'The Provider does not take WebSockets.', {
        detail: `status ${answer.statusCode ?? 0}`,
      }),
    )
    socket.terminate()
  })
  socket.once('error', (cause) =>
    opened.reject(
      cause instanceof AppError
        ? cause
        : new AppError('upstream_unreachable', 'The Provider cannot be reached by WebSocket.', { cause }),
    ),
  )
  try {
    await opened.promise
    return socket
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
