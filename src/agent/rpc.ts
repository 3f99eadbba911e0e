/**
 * JSON-RPC 2.0 over newline-delimited JSON, the agent's side of the pipe. A bad frame costs an answer, never the process:
 * text that is no JSON is answered -32700, a message without a method or an id -32600. Responses with unknown ids are
 * dropped. Writers wait while the peer does not read, so that output never piles up in memory.
 */
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { z } from 'zod'

/** Longest line taken: a prompt with pictures fits, a runaway peer does not. */
export const LINE_MAX_BYTES = 64 * 1024 * 1024

export const RPC = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  authRequired: -32_000,
  resourceNotFound: -32_002,
} as const

/** An answer that is an error. Thrown by a handler it reaches the peer as it is. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
  }
}

const Id = z.union([z.string(), z.number(), z.null()])
const Frame = z.object({
  id: Id.optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
})
type Id = z.infer<typeof Id>

export interface Peer {
  /** Resolves once the pipe took it. */
  notify(method: string, params: unknown): Promise<void>
  /** Waits for the answer without a bound of its own: `signal` ends the wait and tells the peer by `$/cancel_request`. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown>
  /** Resolves at the end of the input, after the last answer is out. */
  closed: Promise<void>
}

export interface PeerHandlers {
  request(method: string, params: unknown): Promise<unknown>
  notification(method: string, params: unknown): void
}

export function createPeer(input: Readable, output: Writable, handlers: PeerHandlers): Peer {
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  let nextId = 0
  let lost = false
  output.on('error', () => (lost = true))

  async function send(message: object): Promise<void> {
    if (lost || output.destroyed) return
    if (output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)) return
    await Promise.race([once(output, 'drain'), once(output, 'close')]).catch(() => (lost = true))
  }

  async function answer(id: Id, method: string, params: unknown): Promise<void> {
    try {
      const result = await handlers.request(method, params)
      await send({ id, result: result ?? {} })
    } catch (thrown) {
      await send({ id, error: toErrorObject(thrown) })
    }
  }

  function receive(line: string): void {
    let json: unknown
    try {
      json = JSON.parse(line)
    } catch {
      void send({ id: null, error: { code: RPC.parseError, message: 'This line is not JSON.' } })
      return
    }
    const parsed = Frame.safeParse(json)
    if (!parsed.success) {
      void send({ id: null, error: { code: RPC.invalidRequest, message: 'This is no JSON-RPC message.' } })
      return
    }
    const { id, method, params, result, error } = parsed.data
    if (method !== undefined) {
      if (id === undefined) handlers.notification(method, params)
      else void answer(id, method, params)
      return
    }
    if (id === undefined) {
      void send({ id: null, error: { code: RPC.invalidRequest, message: 'A message needs a method or an id.' } })
      return
    }
    const call = typeof id === 'number' ? waiting.get(id) : undefined
    if (call === undefined || typeof id !== 'number') return
    waiting.delete(id)
    if (error === undefined) call.resolve(result)
    else call.reject(new RpcError(error.code, error.message, error.data))
  }

  return {
    notify: (method, params) => send({ method, params }),
    async request(method, params, signal) {
      signal.throwIfAborted()
      const id = (nextId += 1)
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const onAbort = (): void => {
        if (!waiting.delete(id)) return
        void send({ method: '$/cancel_request', params: { requestId: id } })
        reject(signal.reason instanceof Error ? signal.reason : new Error('The request was cancelled.'))
      }
      waiting.set(id, { resolve, reject })
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        await send({ id, method, params })
        return await promise
      } finally {
        waiting.delete(id)
        signal.removeEventListener('abort', onAbort)
      }
    },
    closed: readLines(input, receive, (bytes) => {
      void send({ id: null, error: { code: RPC.invalidRequest, message: `A line of ${bytes} bytes is too long.` } })
    }).finally(() => {
      for (const call of waiting.values()) call.reject(new Error('The client is gone.'))
      waiting.clear()
    }),
  }
}

function toErrorObject(thrown: unknown): object {
  if (thrown instanceof RpcError) {
    return { code: thrown.code, message: thrown.message, ...(thrown.data === undefined ? {} : { data: thrown.data }) }
  }
  if (thrown instanceof z.ZodError) {
    return { code: RPC.invalidParams, message: 'Invalid params', data: { detail: z.prettifyError(thrown) } }
  }
  return { code: RPC.internalError, message: thrown instanceof Error ? thrown.message : 'Internal error' }
}

/** Splits at line feeds; a line over the bound is dropped to its end and reported once. */
export async function readLines(
  input: Readable,
  onLine: (line: string) => void,
  onTooLong: (bytes: number) => void,
  maxBytes: number = LINE_MAX_BYTES,
): Promise<void> {
  let parts: Buffer[] = []
  let length = 0
  const take = (piece: Buffer): void => {
    length += piece.length
    if (length <= maxBytes) parts.push(piece)
    else parts = []
  }
  const finish = (): void => {
    if (length > maxBytes) onTooLong(length)
    else {
      const line = Buffer.concat(parts).toString('utf8').trim()
      if (line !== '') onLine(line)
    }
    parts = []
    length = 0
  }
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      let start = 0
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        take(chunk.subarray(start, end))
        finish()
        start = end + 1
      }
      if (start < chunk.length) take(chunk.subarray(start))
    }
  } catch {
    // A broken pipe ends the input like a closed one.
  }
  if (length > 0) finish()
}
