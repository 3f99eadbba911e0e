/** What is learnt of one exchange while it runs, and the record made of it at its end. */
import type { ErrorCode } from '../../../shared/errors.ts'
import type { Clock, Secret } from '../../platform/types.ts'
import type { Attempt } from '../breaker/index.ts'
import { blankText } from '../upstream/index.ts'
import type { AnswerHeaders } from '../upstream/index.ts'
import type { AnswerSummary } from './answer-watch.ts'
import type { Endpoint, Exchange, ExchangeEnd, ExchangeFlag, RouteBinding } from './types.ts'

export interface ExchangeNotes {
  modelAsked: string | null
  modelSent: string
  flags: readonly ExchangeFlag[]
  bytesIn: number
  bytesOut: number
  origin: Exchange['origin']
  status: number | null
  code: ErrorCode | null
  retryAfterMs: number | null
  requestId: string | null
  end: ExchangeEnd
  summary: AnswerSummary | null
  /** Of who answers: none of its words that are kept holds it. */
  key: Secret | null
  /** The try that this exchange ends with. */
  attempt: Attempt | null
  /** Whose answer it is; `index` 0 is the binding's own connection. */
  servedBy(connectionId: string, index: number): void
  /** Called with each chunk of the answer's body. */
  sent(bytes: number): void
  answered(status: number, headers: AnswerHeaders): void
  record(n: number): Exchange
}

export function createExchangeNotes(clock: Clock, binding: RouteBinding, endpoint: Endpoint): ExchangeNotes {
  const startedAtMs = clock.nowMs()
  const began = clock.monotonicMs()
  let firstByteMs: number | null = null
  let { connectionId } = binding
  let failoverIndex = 0
  const kept = (text: string | null | undefined): string | null =>
    text === null || text === undefined ? null : blankText(text, notes.key)
  const notes: ExchangeNotes = {
    modelAsked: null,
    modelSent: binding.upstreamModel,
    flags: [],
    bytesIn: 0,
    bytesOut: 0,
    origin: 'router',
    status: null,
    code: null,
    retryAfterMs: null,
    requestId: null,
    end: 'unknown',
    summary: null,
    key: null,
    attempt: null,
    servedBy(id, index) {
      connectionId = id
      failoverIndex = index
    },
    sent(bytes) {
      firstByteMs ??= clock.monotonicMs() - began
      notes.bytesOut += bytes
    },
    answered(status, headers) {
      notes.origin = 'upstream'
      notes.status = status
      notes.retryAfterMs = retryAfterMs(headers, clock.nowMs())
      notes.requestId = single(headers['x-request-id']) ?? single(headers['request-id'])
    },
    record: (n) => ({
      n,
      sessionId: binding.sessionId,
      connectionId,
      client: binding.client,
      endpoint,
      modelAsked: notes.modelAsked,
      modelSent: notes.modelSent,
      origin: notes.origin,
      status: notes.status,
      code: notes.code,
      streamError: kept(notes.summary?.streamError),
      retryAfterMs: notes.retryAfterMs,
      requestId: kept(notes.requestId),
      failover: failoverIndex > 0,
      stripped: notes.flags.includes('stripped'),
      failoverIndex,
      flags: failoverIndex > 0 ? [...notes.flags, 'failover'] : notes.flags,
      bytesIn: notes.bytesIn,
      bytesOut: notes.bytesOut,
      startedAtMs,
      firstByteMs,
      totalMs: clock.monotonicMs() - began,
      end: notes.end,
      usage: notes.summary?.usage ?? null,
      modelReported: kept(notes.summary?.modelReported),
      responseId: kept(notes.summary?.responseId),
    }),
  }
  return notes
}

/** A longer wait is none that anybody waits for; its sum with a time stays a time. */
const LONGEST_WAIT_MS = 86_400_000

/** `retry-after-ms`, else `retry-after` in seconds or as a date; at most a day. */
export function retryAfterMs(headers: AnswerHeaders, nowMs: number): number | null {
  const wait = waitIn(single(headers['retry-after-ms']) ?? '', single(headers['retry-after']) ?? '', nowMs)
  return wait === null || wait < 0 ? null : Math.min(wait, LONGEST_WAIT_MS)
}

function waitIn(ms: string, secondsOrDate: string, nowMs: number): number | null {
  if (ms !== '' && Number(ms) >= 0) return Number(ms)
  if (secondsOrDate === '') return null
  const seconds = Number(secondsOrDate)
  if (!Number.isNaN(seconds)) return seconds * 1_000
  const atMs = Date.parse(secondsOrDate)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}

function single(value: string | string[] | undefined): string | null {
  const first = Array.isArray(value) ? value[0] : value
  return first === undefined ? null : first.slice(0, 256)
}
