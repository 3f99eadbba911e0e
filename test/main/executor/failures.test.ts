import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { AppError, ERROR_CODES, isErrorCode } from '../../../src/shared/errors.ts'
import { toRawFailure } from '../../../src/main/executor/failures.ts'
import { FAILURES } from '../../../src/main/runtime/execution/failures.ts'

const ROOT = resolve(import.meta.dirname, '../../..')

/** Codes that the worker system throws but that end neither a start nor a turn. */
const ELSEWHERE = new Set(['turn_in_flight', 'updates_taken', 'worker_unknown', 'worker_not_held', 'cancel_stuck'])
/** Codes that say it better than any of the runtime's own, in words of their own. */
const OWN_WORDS = new Set([
  'identity_unknown',
  'platform_unsupported',
  'launch_scope_unsupported',
  'private_dir_unsafe',
  'private_dir_failed',
  'socket_path_too_long',
  'agent_session_not_found',
  'session_in_use',
  'unsafe_mode',
  'prompt_too_large',
  'turn_failed',
  'model_profile_unsupported',
  'model_profile_bypass',
])

function workerCodes(): string[] {
  const text = globSync('src/main/workers/**/*.ts', { cwd: ROOT })
    .map((file) => readFileSync(join(ROOT, file), 'utf8'))
    .join('\n')
  const thrown = [...text.matchAll(/new WorkerError\(\s*'([a-z_]+)'/g)].map(([, code = '']) => code)
  return [...new Set(thrown)].filter((code) => !ELSEWHERE.has(code))
}

test('every code that a worker throws is one that the runtime classifies, or has a sentence of its own', () => {
  const codes = workerCodes()
  expect(codes.length).toBeGreaterThan(20)
  const lost = codes.filter((code) => {
    if (!isErrorCode(code)) return true
    const { code: given = '' } = toRawFailure(new AppError(code, 'A sentence.'), null)
    return !Object.hasOwn(FAILURES, given) && !OWN_WORDS.has(given)
  })
  expect(lost).toEqual([])
})

test('every registered code becomes a registered code, and keeps the sentence that was said', () => {
  for (const code of ERROR_CODES) {
    const raw = toRawFailure(new AppError(code, 'What happened.', { detail: 'small print' }), null)
    expect(isErrorCode(raw.code ?? '')).toBe(true)
    expect(`${raw.message} ${raw.detail ?? ''}`).toMatch(/What happened\..*small print/)
  }
})

test('a machine without room for another process is tried again; a missing program is not', () => {
  const failed = (detail: string) => toRawFailure(new AppError('worker_not_started', 'No.', { detail }), null).code
  expect(failed('EAGAIN')).toBe('worker_start_failed')
  expect(failed('codex')).toBe('worker_not_found')
})

test('what is no AppError tells nothing of its text', () => {
  expect(JSON.stringify(toRawFailure(new Error('a path, a key'), null))).not.toContain('a key')
})

test('what a driver learned travels, what it did not type does not', () => {
  const data = { httpStatus: 503, retryAfterMs: 5, requestId: 'r', exitCode: 3, other: 'x', phase: 7 }
  expect(toRawFailure(new AppError('turn_failed', 'No.', { data }), null)).toEqual({
    message: 'No.',
    code: 'turn_failed',
    httpStatus: 503,
    retryAfterMs: 5,
    requestId: 'r',
    exitCode: 3,
  })
})
