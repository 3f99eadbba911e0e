/** The Router's own answers to what it does not pass on, in the dialect that the path's client reads. */
import type { OutgoingHttpHeaders } from 'node:http'
import { AppError } from '../../../shared/errors.ts'
import type { ErrorCode } from '../../../shared/errors.ts'
import type { RouteProtocol } from './types.ts'

export interface Refusal {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: string
  readonly code: ErrorCode
}

export interface RefusalContext {
  readonly dialect: RouteProtocol
  /** A POST to `/v1/responses…`: Codex repeats every status but 400, so what is permanent goes out as 400. */
  readonly responsesPost: boolean
  /** A Host, Origin or user that is not admitted stays 403 for everyone. */
  readonly keepStatus?: boolean
  /** Overrides what the code says of trying again. */
  readonly retry?: boolean
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  model_profiles_unavailable: 503,
  credential_store_unavailable: 503,
  credential_store_failed: 503,
  persistence_failed: 503,
  storage_full: 503,
  database_busy: 503,
  route_overloaded: 503,
  upstream_circuit_open: 503,
  upstream_unreachable: 502,
  upstream_redirect_rejected: 502,
  upstream_timeout: 504,
  route_not_found: 404,
  route_endpoint_unsupported: 404,
  route_protocol_mismatch: 404,
  route_method_not_allowed: 405,
  gateway_auth_required: 401,
  route_admission_denied: 403,
  route_websocket_rejected: 426,
  request_body_too_large: 413,
  request_encoding_unsupported: 415,
  internal: 500,
}
/** Refusals with a registered code and no row of their own are the request's own fault. */
const BAD_REQUEST = 400

/** Codes that the registry calls permanent, yet the same request may pass a moment later. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['credential_store_failed', 'persistence_failed'])
/** Trying again would wait as long once more. */
const PERMANENT: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['upstream_timeout'])

export function refusal(error: AppError, context: RefusalContext): Refusal {
  const retry = context.retry ?? ((error.retryable || PASSING.has(error.code)) && !PERMANENT.has(error.code))
  const tableStatus = STATUS[error.code] ?? BAD_REQUEST
  const status = context.responsesPost && !retry && context.keepStatus !== true ? BAD_REQUEST : tableStatus
  const body = errorBody(context.dialect, status, error.code, error.message)
  return {
    status,
    code: error.code,
    body,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-wheelhouse-error': error.code,
      'x-should-retry': String(retry),
      ...(error.code === 'route_overloaded' ? { 'retry-after': '1' } : {}),
      ...(isWait(error.data) ? { 'retry-after': String(Math.ceil(error.data.waitMs / 1_000)) } : {}),
      ...(isAllow(error.data) ? { allow: error.data.allow } : {}),
    },
  }
}

/** What is no `AppError` is a bug of ours: its text stays in the log. */
export function asAppError(thrown: unknown): AppError {
  return thrown instanceof AppError
    ? thrown
    : new AppError('internal', 'Something went wrong inside Wheelhouse. The log has the details.', { cause: thrown })
}

function isWait(data: unknown): data is { waitMs: number } {
  return typeof data === 'object' && data !== null && 'waitMs' in data && typeof data.waitMs === 'number'
}

function isAllow(data: unknown): data is { allow: string } {
  return typeof data === 'object' && data !== null && 'allow' in data && typeof data.allow === 'string'
}

function errorBody(dialect: RouteProtocol, status: number, code: ErrorCode, message: string): string {
  return dialect === 'responses'
    ? JSON.stringify({ error: { type: 'wheelhouse_error', code, message, param: null } })
    : JSON.stringify({ type: 'error', error: { type: anthropicType(status), message: `${message} [${code}]` } })
}

function anthropicType(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 404 || status === 405) return 'not_found_error'
  if (status === 413) return 'request_too_large'
  return status >= 500 ? 'api_error' : 'invalid_request_error'
}

/** The event that ends a stream whose upstream went away between two events. */
export function disconnectEvent(dialect: RouteProtocol): string {
  const message = 'The Provider broke off its answer. Try again.'
  const data =
    dialect === 'responses'
      ? { type: 'error', code: 'upstream_disconnected', message, param: null }
      : { type: 'error', error: { type: 'api_error', message: `${message} [upstream_disconnected]` } }
  return `event: error\ndata: ${JSON.stringify(data)}\n\n`
}
