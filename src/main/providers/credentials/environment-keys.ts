import { createSecret } from '../../platform/index.ts'
import type { Secret, SecretRegistry } from '../../platform/types.ts'

/**
 * Keys in variables of the host, read at request time. Each is registered while it stands there, so that no log shows it.
 */
export function createEnvironmentKeys(
  environment: () => Readonly<Record<string, string | undefined>>,
  secrets: SecretRegistry,
): (name: string) => Secret | null {
  const known = new Map<string, { text: string; secret: Secret; registered: Disposable }>()
  return (name) => {
    const text = environment()[name] ?? ''
    const before = known.get(name)
    if (before?.text === text) return before.secret
    before?.registered[Symbol.dispose]()
    known.delete(name)
    if (text === '') return null
    const secret = createSecret(text)
    known.set(name, { text, secret, registered: secrets.add(secret, `variable ${name}`) })
    return secret
  }
}
