import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codeOf, toErrorInfo } from '../../../src/main/runtime/execution/classify.ts'
import { FAILURES } from '../../../src/main/runtime/execution/failures.ts'
import { redactPatterns } from '../../../src/main/runtime/execution/redact.ts'
import { RawFailure } from '../../../src/main/runtime/types.ts'
import { ErrorInfo } from '../../../src/shared/events.ts'

const raw = (change: Partial<RawFailure>): RawFailure => ({ message: '', ...change })

test.each([
  [{ httpStatus: 400 }, 'provider_request_invalid'],
  [{ httpStatus: 400, phase: 'context' as const }, 'context_overflow'],
  [{ httpStatus: 413, phase: 'context' as const }, 'context_overflow'],
  [{ httpStatus: 401 }, 'provider_auth_failed'],
  [{ httpStatus: 402 }, 'provider_quota_exhausted'],
  [{ httpStatus: 403 }, 'provider_forbidden'],
  [{ httpStatus: 404 }, 'model_not_found'],
  [{ httpStatus: 408 }, 'provider_timeout'],
  [{ httpStatus: 429 }, 'rate_limited'],
  [{ httpStatus: 429, code: 'insufficient_quota' }, 'provider_quota_exhausted'],
  [{ httpStatus: 451 }, 'provider_request_failed'],
  [{ httpStatus: 529 }, 'provider_unavailable'],
  [{ message: 'the upstream said HTTP 503' }, 'provider_unavailable'],
  [{ message: 'I was asked about error 503 in my homework' }, 'run_failed'],
  [{ code: 'ECONNREFUSED' }, 'network_unavailable'],
  [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'tls_untrusted'],
  [{ code: 'worker_not_found' }, 'worker_not_found'],
  [{ code: 'login_required' }, 'login_required'],
  [{ exitCode: 1 }, 'worker_exited'],
  [{ signal: 'SIGKILL', exitCode: 137 }, 'worker_killed'],
  [{ code: 'whatever' }, 'run_failed'],
])('%o is called %s', (failure, code) => {
  expect(codeOf(raw(failure))).toBe(code)
})

const scene = { runId: 'r', intentId: 'i', attempt: 1, phase: 'model' as const, redact: (text: string) => text }

test.each([
  ['run_cancelled', 'cancelled', 'user'],
  ['run_timed_out', 'cancelled', 'user'],
  ['run_incomplete', 'incomplete', 'user'],
  ['content_rejected', 'policy', 'user'],
  ['provider_request_invalid', 'provider', 'none'],
  ['context_overflow', 'provider', 'user'],
  ['provider_auth_failed', 'provider', 'user'],
  ['provider_quota_exhausted', 'provider', 'user'],
  ['provider_forbidden', 'provider', 'user'],
  ['model_not_found', 'validation', 'user'],
  ['provider_timeout', 'transient', 'automatic'],
  ['rate_limited', 'transient', 'automatic'],
  ['provider_unavailable', 'transient', 'automatic'],
  ['provider_request_failed', 'provider', 'none'],
  ['network_unavailable', 'transport', 'automatic'],
  ['provider_interrupted', 'transport', 'automatic'],
  ['tls_untrusted', 'transport', 'user'],
  ['worker_not_found', 'validation', 'user'],
  ['worker_not_executable', 'validation', 'user'],
  ['worker_start_failed', 'transient', 'automatic'],
  ['worker_start_timeout', 'transient', 'automatic'],
  ['mcp_server_unavailable', 'tool', 'user'],
  ['worker_exited', 'transport', 'automatic'],
  ['worker_killed', 'transport', 'user'],
  ['worker_protocol_error', 'internal', 'user'],
  ['tool_failed', 'tool', 'user'],
  ['policy_blocked', 'policy', 'none'],
  ['decision_timed_out', 'policy', 'user'],
  ['decision_undeliverable', 'policy', 'user'],
  ['storage_full', 'persistence', 'user'],
  ['database_busy', 'persistence', 'automatic'],
  ['database_corrupt', 'persistence', 'none'],
  ['lease_lost', 'persistence', 'reconcile'],
  ['owner_lost', 'internal', 'user'],
  ['cancelled_by_user_after_owner_loss', 'cancelled', 'user'],
  ['run_failed', 'internal', 'user'],
])('%s is of class %s and retried by %s when nothing was left behind', (code, failureClass, retryMode) => {
  const info = toErrorInfo(raw({ code }), { ...scene, sideEffects: 'none', partialOutput: false })
  expect(info).toMatchObject({ code, failureClass, retryMode })
})

test('RT-A62 a wait of over two minutes is for a person to decide', () => {
  const mode = (retryAfterMs: number): string =>
    toErrorInfo(raw({ httpStatus: 429, retryAfterMs }), { ...scene, sideEffects: 'none', partialOutput: false })
      .retryMode
  expect([mode(120_000), mode(120_001)]).toEqual(['automatic', 'user'])
})

test('what has left traces is repeated only by decision, but what a person stopped stays theirs', () => {
  for (const code of Object.keys(FAILURES)) {
    const clean = toErrorInfo(raw({ code }), { ...scene, sideEffects: 'read_only', partialOutput: false })
    const touched = toErrorInfo(raw({ code }), { ...scene, sideEffects: 'unknown', partialOutput: false })
    const wasOpen = clean.retryMode === 'automatic' || clean.retryMode === 'user'
    expect(touched.retryMode).toBe(wasOpen && code !== 'run_cancelled' ? 'decision_required' : clean.retryMode)
    expect(clean.message).not.toBe('')
  }
})

test('whatever went wrong becomes a bounded account that passes its schema', () => {
  const failure = fc.record(
    {
      message: fc.string({ unit: 'binary', maxLength: 3_000 }),
      detail: fc.string({ unit: 'binary', maxLength: 9_000 }),
      httpStatus: fc.integer({ min: 0, max: 999 }),
      code: fc.string({ maxLength: 20 }),
      exitCode: fc.integer(),
      signal: fc.constantFrom('SIGTERM', 'SIGKILL'),
    },
    { requiredKeys: ['message'] },
  )
  const holds = fc.property(failure, (input) => {
    const info = toErrorInfo(RawFailure.parse(input), { ...scene, sideEffects: 'none', partialOutput: true })
    return (
      ErrorInfo.safeParse(info).success &&
      Buffer.byteLength(info.message) <= 1_024 &&
      Buffer.byteLength(info.detail ?? '') <= 4_096
    )
  })
  expect(fc.check(holds).failed).toBe(false)
})

test.each([
  ['x-api-key: sk-ant-1234567890', 'sk-ant-1234567890'],
  ['"access_token":"abc.def"', 'abc.def'],
  ['authorization=Bearer qqqqqq', 'qqqqqq'],
  ['Authorization: Basic dXNlcjpwYXNz', 'dXNlcjpwYXNz'],
  ['redis://:hunter2@example.com/', 'hunter2'],
  ['password = "two words"', 'two words'],
  ['https://user:hunter2@example.com/', 'hunter2'],
  ['token ghp_abcdefghij0123456789', 'ghp_abcdefghij0123456789'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2lnbmF0dXJl', 'eyJzdWIiOiIx'],
  ['-----BEGIN PRIVATE KEY-----\nMIIEv\n-----END PRIVATE KEY-----', 'MIIEv'],
])('of %o nothing secret is left', (text, secret) => {
  expect(redactPatterns(text)).not.toContain(secret)
})
