import { hash, timingSafeEqual } from 'node:crypto'
import { inspect } from 'node:util'
import type { Secret } from './types.ts'

export const REDACTED = '[secret]'

const secrets = new WeakSet<object>()

/** The value lies in a closure: no dump, clone, spread or serialisation of the object shows it. */
export function createSecret(value: string): Secret {
  const digest = (): Buffer => hash('sha256', value, 'buffer')
  const secret = {
    reveal: () => value,
    // Digests of one length are compared, so that not even the length of the value shows in the time taken.
    equals: (other: Secret) => timingSafeEqual(digest(), Buffer.from(other.sha256(), 'hex')),
    sha256: () => digest().toString('hex'),
    toString: () => REDACTED,
    toJSON: () => REDACTED,
    [inspect.custom]: () => REDACTED,
  }
  secrets.add(secret)
  return Object.freeze(secret)
}

export function isSecret(value: unknown): value is Secret {
  return typeof value === 'object' && value !== null && secrets.has(value)
}
