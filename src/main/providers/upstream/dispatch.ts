/** One request through undici's dispatcher: the answer's head as a promise, its body as it comes. */
import { errors } from 'undici'
import type { Dispatcher } from 'undici'
import { createAnswerBody } from './answer-body.ts'
import type { AnswerBody, WritableBody } from './answer-body.ts'
import { createChunkMemory } from './chunk-memory.ts'
import type { AnswerHeaders } from './types.ts'

export interface DispatchAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: AnswerBody
}

/**
 * undici's own `request` does the same with an async resource and a richer stream, a good part of what a short exchange
 * takes. Rejects with undici's error, or at once with the signal's reason; a request that still waits for a connection
 * then is dropped before its first byte. undici waits for a head anew behind each answer that only informs (1xx): from the
 * first of those on, the head has `headMs` in all.
 */
export function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { signal, headMs }: { signal: AbortSignal; headMs: number },
): Promise<DispatchAnswer> {
  return new Promise((resolve, reject) => {
    let running: Dispatcher.DispatchController | null = null
    let body: WritableBody | null = null
    const memory = createChunkMemory()
    let tooLate: NodeJS.Timeout | undefined

    const abort = (): void => {
      clearTimeout(tooLate)
      const reason = asError(signal.reason)
      if (body === null) reject(signal.reason)
      else body.fail(reason)
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
        if (status < 200) {
          tooLate ??= setTimeout(() => controller.abort(new errors.HeadersTimeoutError()), headMs)
          return
        }
        clearTimeout(tooLate)
        body = createAnswerBody({
          pause: () => controller.pause(),
          resume: () => controller.resume(),
          abort: (reason) => controller.abort(reason),
          spent: (chunk) => memory.spent(chunk),
          over: forget,
        })
        resolve({ status, headers, body })
      },
      onResponseData(_controller, chunk) {
        memory.came(chunk)
        body?.data(chunk)
      },
      onResponseEnd() {
        body?.ended(null)
      },
      onResponseError(_controller, error) {
        if (body !== null) return body.ended(error)
        clearTimeout(tooLate)
        forget()
        reject(error)
      },
    })
  })
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
