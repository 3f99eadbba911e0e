/** What an ended request says of its Provider. */
import type { AttemptOutcome } from './breaker.ts'

/** Words for what the request or the account is at fault for, not the Provider's service. */
const REQUESTS_FAULT =
  /^(?:invalid|context_length|unsupported|model_not_found|not_found|request_too_large|content|cyber_policy|image_|failed_to_download)/
const ACCOUNTS_FAULT = /^(?:authentication|permission|billing|insufficient_quota|usage_)/
const TOO_MANY = /^(?:rate_limit|too_many_requests)/

/** Whose fault an error event inside a stream names. */
export type StreamFault = 'server' | 'request' | 'too_many'

export function faultOf(streamError: string): StreamFault {
  if (TOO_MANY.test(streamError) || streamError === '429') return 'too_many'
  const client = REQUESTS_FAULT.test(streamError) || ACCOUNTS_FAULT.test(streamError) || /^4\d\d$/.test(streamError)
  return client ? 'request' : 'server'
}

/** How a request ended, in the words of its record. */
export interface Ended {
  readonly origin: 'upstream' | 'router'
  readonly status: number | null
  readonly code: string | null
  readonly streamError: string | null
  readonly end: string
}

export function outcomeOf({ origin, status, code, streamError, end }: Ended): AttemptOutcome {
  if (end === 'client_aborted') return 'neither'
  if (code === 'upstream_disconnected') return 'failed'
  if (origin === 'router') return isTransport(code) ? 'failed' : 'neither'
  if (status === null) return 'neither'
  if (status >= 500) return 'failed'
  return streamError !== null && faultOf(streamError) === 'server' ? 'failed' : 'answered'
}

/** Nothing was answered: no connection, or no head in time. */
export function isTransport(code: string | null): boolean {
  return code === 'upstream_unreachable' || code === 'upstream_timeout'
}
