/** One request through undici's dispatcher: the answer's head as a promise, its body as a stream. */
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'

export interface DispatchAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
}

/**
 * undici's own `request` does the same with an async resource and a richer stream, a good part of what a short exchange
 * takes. Rejects with undici's error, or at once with the signal's reason; a request that still waits for a connection
 * then is dropped before its first byte.
 */
export function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<DispatchAnswer> {
  return new Promise((resolve, reject) => {
    let running: Dispatcher.DispatchController | null = null
    let body: Readable | null = null
    let ended = false

    const abort = (): void => {
      const reason = asError(signal.reason)
      if (body === null) reject(signal.reason)
      else body.on('error', () => undefined).destroy(reason)
      running?.abort(reason)
    }
    const forget = (): void => signal.removeEventListener('abort', abort)
    signal.addEventListener('abort', abort, { once: true })

    dispatcher.dispatch(options, {
      onRequestStart(controller) {
        running = controller
        if (signal.aborted) controller.abort(asError(signal.reason))
      },
      onResponseStart(controller, status, headers) {
        if (status < 200) return
        body = new Readable({
          read: () => controller.resume(),
          destroy(error, done) {
            forget()
            if (!ended) controller.abort(error ?? new Error('The answer is no longer wanted.'))
            done(error)
          },
        })
        resolve({ status, headers, body })
      },
      onResponseData(controller, chunk) {
        if (body?.push(chunk) === false) controller.pause()
      },
      onResponseEnd() {
        ended = true
        body?.push(null)
      },
      onResponseError(_controller, error) {
        ended = true
        forget()
        if (body === null) reject(error)
        else body.destroy(error)
      },
    })
  })
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
