/** A failed model request, put into the error that answers the prompt: what the host maps to its own codes. */
import { z } from 'zod'

import { RPC, RpcError } from './rpc.ts'

const Failure = z.object({
  message: z.string().catch(''),
  statusCode: z.number().int().optional().catch(undefined),
  responseHeaders: z.record(z.string(), z.string()).optional().catch(undefined),
  responseBody: z.string().optional().catch(undefined),
  data: z.unknown().optional(),
})
type Failure = z.infer<typeof Failure>

const Word = z.string().max(200).optional().catch(undefined)
/** Both dialects: `{ error: { code, type, message } }`, within an event or a body, or those three by themselves. */
const Said = z.object({
  code: Word,
  type: Word,
  message: z.string().optional().catch(undefined),
})
const Wrapped = z.object({ error: Said }).transform(({ error }) => error)
const Response = z.object({ response: Wrapped }).transform(({ response }) => response)

export interface ModelErrorData {
  httpStatus: number | null
  /** The upstream's own word; `context_length_exceeded` whenever the conversation is what was too long. */
  code: string | null
  requestId: string | null
  retryAfterMs: number | null
}

const MESSAGE_MAX_CHARS = 2_000

export function toPromptError(thrown: unknown): RpcError {
  if (thrown instanceof RpcError) return thrown
  const failure = findFailure(thrown)
  const said = whatWasSaid(failure)
  const message = (said?.message ?? failure.message) || 'The model request failed.'
  const httpStatus = failure.statusCode ?? null
  const data: ModelErrorData = {
    httpStatus,
    code: isTooLong(said?.code ?? null, message)
      ? 'context_length_exceeded'
      : (said?.code ?? said?.type ?? networkCode(thrown)),
    requestId: header(failure, 'x-request-id') ?? header(failure, 'request-id'),
    retryAfterMs: retryAfterMs(failure),
  }
  return new RpcError(RPC.internalError, message.slice(0, MESSAGE_MAX_CHARS), data)
}

/** Nothing that a later prompt could do with this turn's text would help: the upstream refused the request itself. */
export function isRequestRefused(error: RpcError): boolean {
  const parsed = z.object({ httpStatus: z.number() }).safeParse(error.data)
  return parsed.success && [400, 413, 422].includes(parsed.data.httpStatus)
}

/** The SDK wraps: a retry error holds the last error, others a cause. The first with a status is the one that speaks. */
function findFailure(thrown: unknown): Failure {
  let at: unknown = thrown
  let first: Failure | null = null
  for (let depth = 0; depth < 6 && typeof at === 'object' && at !== null; depth += 1) {
    const failure = Failure.parse({ ...at, message: 'message' in at ? at.message : '' })
    if (failure.statusCode !== undefined) return failure
    first ??= failure
    at = 'lastError' in at ? at.lastError : 'cause' in at ? at.cause : null
  }
  return first ?? Failure.parse({ message: String(thrown) })
}

function whatWasSaid(failure: Failure): z.infer<typeof Said> | null {
  for (const candidate of [failure.data, parseJson(failure.responseBody)]) {
    const parsed = z.union([Response, Wrapped, Said]).safeParse(candidate)
    if (parsed.success && (parsed.data.code ?? parsed.data.type ?? parsed.data.message) !== undefined)
      return parsed.data
  }
  return null
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}

function isTooLong(code: string | null, message: string): boolean {
  if (code === 'context_length_exceeded' || code === 'context_overflow') return true
  return /prompt is too long|maximum context length|context (?:window|length)|exceeds? the context|too many (?:input )?tokens/i.test(
    message,
  )
}

function networkCode(thrown: unknown): string | null {
  let at: unknown = thrown
  for (let depth = 0; depth < 8 && typeof at === 'object' && at !== null; depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code
    at = 'lastError' in at ? at.lastError : 'cause' in at ? at.cause : null
  }
  return null
}

function header(failure: Failure, name: string): string | null {
  for (const [key, value] of Object.entries(failure.responseHeaders ?? {})) {
    if (key.toLowerCase() === name) return value.slice(0, 200)
  }
  return null
}

/** Seconds only; a date form would need a clock that both sides share. */
function retryAfterMs(failure: Failure): number | null {
  const exact = Number(header(failure, 'retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(exact) && exact >= 0) return Math.round(exact)
  const seconds = Number(header(failure, 'retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.round(seconds * 1_000) : null
}
