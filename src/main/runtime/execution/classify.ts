/**
 * What a failure is called, and whether it may be tried again. A structured status or code decides; a message is read only
 * where the host itself made it (`HTTP 429`, `status 503`).
 */
import { isErrorCode } from '../../../shared/errors.ts'
import type { ErrorCode } from '../../../shared/errors.ts'
import type { ErrorInfo, RunPhase } from '../../../shared/events.ts'
import type { RunFacts } from '../store/runs.ts'
import type { RawFailure } from '../types.ts'
import { FAILURES, OTHER_FAILURE } from './failures.ts'
import { safeText } from './redact.ts'

const MESSAGE_BYTES = 1_024
const DETAIL_BYTES = 4_096
/** Who is asked to wait longer decides for themselves. */
const LONGEST_RETRY_AFTER_MS = 120_000

const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT'])
const TLS = /^(?:ERR_TLS_|CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_)/
const PROVIDER_WORDS: Readonly<Record<string, ErrorCode>> = {
  insufficient_quota: 'provider_quota_exhausted',
  billing_hard_limit_reached: 'provider_quota_exhausted',
  context_length_exceeded: 'context_overflow',
  content_policy_violation: 'content_rejected',
  UND_ERR_CONNECT_TIMEOUT: 'provider_timeout',
  UND_ERR_HEADERS_TIMEOUT: 'provider_timeout',
  ENOSPC: 'storage_full',
}

/** The registered code of a failure. */
export function codeOf(raw: RawFailure): ErrorCode {
  const { code } = raw
  if (code !== undefined) {
    if (Object.hasOwn(FAILURES, code) && isErrorCode(code)) return code
    const known = Object.hasOwn(PROVIDER_WORDS, code) ? PROVIDER_WORDS[code] : undefined
    if (known !== undefined) return known
  }
  const status = raw.httpStatus ?? statusIn(raw.message)
  if (status !== null && status >= 400) return ofStatus(status, raw)
  if (code !== undefined) {
    if (NETWORK.has(code)) return 'network_unavailable'
    if (TLS.test(code)) return 'tls_untrusted'
    if (isErrorCode(code) && code !== 'internal') return code
  }
  if (raw.signal !== undefined) return 'worker_killed'
  if (raw.exitCode !== undefined) return 'worker_exited'
  return 'run_failed'
}

function statusIn(message: string): number | null {
  const found = /\b(?:HTTP|status) ([1-5]\d\d)\b/.exec(message)
  return found === null ? null : Number(found[1])
}

function ofStatus(status: number, raw: RawFailure): ErrorCode {
  if ((status === 400 || status === 413) && raw.phase === 'context') return 'context_overflow'
  switch (status) {
    case 400:
    case 422:
      return 'provider_request_invalid'
    case 401:
      return 'provider_auth_failed'
    case 402:
      return 'provider_quota_exhausted'
    case 403:
      return 'provider_forbidden'
    case 404:
      return 'model_not_found'
    case 408:
    case 409:
    case 425:
      return 'provider_timeout'
    case 429:
      return 'rate_limited'
    default:
      return status >= 500 ? 'provider_unavailable' : 'provider_request_failed'
  }
}

export interface FailureScene extends RunFacts {
  runId: string
  intentId: string
  attempt: number
  phase: RunPhase
  /** Blanks the registered secrets. */
  redact: (text: string) => string
}

/** The whole account of a failure, as it is stored with the run and shown. */
export function toErrorInfo(raw: RawFailure, scene: FailureScene): ErrorInfo {
  const code = codeOf(raw)
  const failure = FAILURES[code] ?? OTHER_FAILURE
  const isLong = failure.mode === 'automatic' && (raw.retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS
  const retryMode = safeMode(code, isLong ? 'user' : failure.mode, scene)
  const own = raw.message.trim()
  const detail = raw.detail ?? (own === '' || own === failure.message ? undefined : own)
  return {
    code,
    type: raw.code ?? code,
    failureClass: failure.failureClass,
    phase: raw.phase ?? failure.phase ?? scene.phase,
    messageKey: `run.error.${code}`,
    message: safeText(failure.message === '' ? own : failure.message, MESSAGE_BYTES, scene.redact),
    ...(detail === undefined ? {} : { detail: safeText(detail, DETAIL_BYTES, scene.redact) }),
    retryMode,
    retryable: retryMode === 'automatic' || retryMode === 'user' || retryMode === 'decision_required',
    ...(raw.retryAfterMs === undefined ? {} : { retryAfterMs: raw.retryAfterMs }),
    attempt: scene.attempt,
    sideEffectState: scene.sideEffects,
    partialOutput: scene.partialOutput,
    runId: scene.runId,
    intentId: scene.intentId,
    ...(raw.requestId === undefined ? {} : { requestId: raw.requestId }),
  }
}

/** What has left traces is never repeated without a person's word; a run that a person stopped is theirs already. */
function safeMode(code: ErrorCode, mode: ErrorInfo['retryMode'], facts: RunFacts): ErrorInfo['retryMode'] {
  if (code === 'run_cancelled' || (mode !== 'automatic' && mode !== 'user')) return mode
  const touched = facts.partialOutput || facts.sideEffects === 'mutating' || facts.sideEffects === 'unknown'
  return touched ? 'decision_required' : mode
}
