import { createHash } from 'node:crypto'
import { AppError } from '../../../shared/errors.ts'
import type { JsonValue } from '../../../shared/vocabulary.ts'

const MAX_KEY_BYTES = 200

/** JSON with sorted keys and no spaces: equal values give equal bytes. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`)
  return `{${members.join(',')}}`
}

export function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** What a submission asks for, whatever its key. */
export function submissionFingerprint(request: {
  text: string
  inputIds: readonly string[]
  requestedMode: string | null
  failover?: 'off'
  conversation?: false
}): string {
  const { text, inputIds, requestedMode, ...rest } = request
  return sha256(canonicalJson({ text, inputIds: [...inputIds], requestedMode, ...rest }))
}

export function retryFingerprint(runId: string): string {
  return sha256(canonicalJson({ runId }))
}

/** The key itself is stored nowhere. @throws AppError `prompt_invalid`: it is empty or longer than 200 bytes. */
export function hashKey(key: string | undefined): string | null {
  if (key === undefined) return null
  const trimmed = key.trim()
  if (trimmed === '' || Buffer.byteLength(trimmed) > MAX_KEY_BYTES) {
    throw new AppError('prompt_invalid', 'The idempotency key must have 1 to 200 bytes.')
  }
  return sha256(trimmed)
}
