import { AppError } from '../../shared/errors.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import type { ExchangeRecord } from '../providers/index.ts'
import type { RawFailure } from '../runtime/index.ts'

/**
 * Worker and provider codes in the runtime's words. Total over what a start or a turn can reject with: a code that is not
 * here is handed on as it is, and the runtime classifies it as `run_failed`.
 */
const TO_RUNTIME: Partial<Record<ErrorCode, string>> = {
  worker_not_started: 'worker_not_found',
  worker_unusable: 'worker_start_failed',
  agent_unknown: 'worker_not_found',
  agent_unavailable: 'worker_not_found',
  workers_full: 'run_queue_full',
  handshake_timeout: 'worker_start_timeout',
  handshake_failed: 'worker_start_failed',
  agent_exited_early: 'worker_start_failed',
  protocol_unsupported: 'worker_protocol_error',
  agent_mismatch: 'worker_start_failed',
  login_required: 'provider_auth_failed',
  load_unsupported: 'worker_start_failed',
  mode_unmapped: 'worker_start_failed',
  session_unverified: 'worker_start_failed',
  mcp_mismatch: 'mcp_server_unavailable',
  worker_failed: 'worker_exited',
  worker_lost: 'worker_killed',
  line_too_long: 'worker_protocol_error',
  worker_protocol_error: 'worker_protocol_error',
  request_flood: 'worker_protocol_error',
  usage_limit: 'provider_quota_exhausted',
  turn_interrupted: 'provider_interrupted',
  stop_unknown: 'provider_interrupted',
  stdin_stuck: 'worker_protocol_error',
  session_ended: 'worker_exited',
  aborted: 'run_cancelled',
  model_profile_credential_not_ready: 'provider_auth_failed',
  upstream_unreachable: 'network_unavailable',
  upstream_timeout: 'provider_timeout',
  upstream_disconnected: 'provider_interrupted',
}

/** A start's or a turn's failure, with what the Router saw of the same moment. */
export function toRawFailure(thrown: unknown, exchange: ExchangeRecord | null): RawFailure {
  if (!(thrown instanceof AppError)) {
    return {
      message: 'The agent failed in a way Wheelhouse did not expect. The log has the details.',
      code: 'run_failed',
    }
  }
  const code = codeOf(thrown)
  return {
    message: thrown.message,
    code,
    ...detailOf(thrown, code),
    ...dataOf(thrown),
    ...fromExchange(thrown.code, exchange),
  }
}

/** What the system says when it has no room for one more process: it passes. */
const NO_ROOM = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])

function codeOf({ code, detail }: AppError): string {
  if (code === 'worker_not_started' && NO_ROOM.has(detail ?? '')) return 'worker_start_failed'
  return TO_RUNTIME[code] ?? code
}

/** Where the runtime has a sentence of its own for the code, what was said here becomes its small print. */
function detailOf({ code, message, detail }: AppError, given: string): { detail?: string } {
  if (given === code) return detail === undefined ? {} : { detail }
  if (detail === undefined || message.includes(detail)) return { detail: message }
  return { detail: detail.includes(message) ? detail : `${message} ${detail}` }
}

/** A driver may have learned more from its agent: the status of a model request, when to try again. */
function dataOf(error: AppError): Partial<RawFailure> {
  const { data } = error
  if (typeof data !== 'object' || data === null) return {}
  const facts: Partial<RawFailure> = {}
  if ('httpStatus' in data && typeof data.httpStatus === 'number') facts.httpStatus = data.httpStatus
  if ('retryAfterMs' in data && typeof data.retryAfterMs === 'number') facts.retryAfterMs = data.retryAfterMs
  if ('requestId' in data && typeof data.requestId === 'string') facts.requestId = data.requestId
  if ('exitCode' in data && typeof data.exitCode === 'number') facts.exitCode = data.exitCode
  return facts
}

const MODEL_FAILURES: ReadonlySet<ErrorCode> = new Set([
  'turn_failed',
  'usage_limit',
  'login_required',
  'stop_unknown',
  'turn_interrupted',
])

/** The Router was there: what it saw beats the agent's wording. */
function fromExchange(code: ErrorCode, exchange: ExchangeRecord | null): Partial<RawFailure> {
  if (exchange === null || !MODEL_FAILURES.has(code)) return {}
  const failed = exchange.code !== null || exchange.streamError !== null || (exchange.status ?? 0) >= 400
  if (!failed) return {}
  return {
    phase: 'model',
    ...(exchange.status !== null && exchange.status >= 400 ? { httpStatus: exchange.status } : {}),
    ...(exchange.origin === 'router' && exchange.code !== null
      ? { code: TO_RUNTIME[exchange.code] ?? exchange.code }
      : {}),
    ...(exchange.retryAfterMs === null ? {} : { retryAfterMs: exchange.retryAfterMs }),
    ...(exchange.requestId === null ? {} : { requestId: exchange.requestId }),
  }
}
