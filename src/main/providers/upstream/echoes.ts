/** Some Providers echo the key: in whatever form it comes back, it is blanked before it leaves. */
import { Transform } from 'node:stream'
import { createSecretRegistry } from '../../platform/index.ts'
import type { Secret, SecretRegistry } from '../../platform/types.ts'

/** Its forms are worked out once for each key. */
const known = new WeakMap<Secret, SecretRegistry>()

function registryOf(key: Secret): SecretRegistry {
  const there = known.get(key)
  if (there !== undefined) return there
  const made = createSecretRegistry()
  made.add(key, 'upstream')
  known.set(key, made)
  return made
}

export function blankText(text: string, key: Secret | null): string {
  return key === null ? text : registryOf(key).redact(text)
}

/** Keys are ASCII, and so are their forms: every byte is a character. Other text passes as it came. */
export function blankBytes(bytes: Buffer, key: Secret | null): Buffer {
  const text = bytes.toString('latin1')
  const blanked = blankText(text, key)
  return blanked === text ? bytes : Buffer.from(blanked, 'latin1')
}

/** The same for bytes that come in pieces. */
export function createBlanker(key: Secret): Transform {
  const stream = registryOf(key).stream()
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, Buffer.from(stream.push(chunk.toString('latin1')), 'latin1'))
    },
    flush(done) {
      done(null, Buffer.from(stream.end(), 'latin1'))
    },
  })
}
