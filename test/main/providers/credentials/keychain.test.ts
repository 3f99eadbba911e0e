import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { loadKeychain } from '../../../../src/main/providers/credentials/keychain-libraries.ts'
import { createKeyring, hasSecretService } from '../../../support/keyring.ts'
import type { Keyring } from '../../../support/keyring.ts'

const SCRIPT = fileURLToPath(new URL('keychain-script.ts', import.meta.url))
const DONE = { applied: true, durable: true }
const LIMIT_MS = 60_000

async function steps(keyring: Keyring, state: 'unlocked' | 'locked', ...args: string[]): Promise<unknown[]> {
  const printed = await keyring.run(SCRIPT, args, state)
  return printed
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
}

describe.skipIf(!hasSecretService())('with a real Secret Service', () => {
  test('keytar loads: an install that could not build it says nothing', () => {
    expect(loadKeychain('keytar')?.name).toBe('keytar')
    expect(loadKeychain('napi_keyring')?.name).toBe('napi_keyring')
  })

  for (const library of ['keytar', 'napi_keyring']) {
    test(`${library} stores, replaces, lists and deletes a key`, { timeout: LIMIT_MS }, async () => {
      using keyring = createKeyring()
      const ref = 'provider:a:1'
      const args = ['available', `get=${ref}`, `set=${ref}=first-key`, `set=${ref}=second-key`, `get=${ref}`, 'refs']
      const more = [`delete=${ref}`, `delete=${ref}`, `get=${ref}`, 'refs']
      expect(await steps(keyring, 'unlocked', library, ...args, ...more)).toEqual([
        true,
        null,
        DONE,
        DONE,
        'second-key',
        [ref],
        DONE,
        DONE,
        null,
        [],
      ])
    })

    test(`${library} tells a locked keychain from a key that is not there`, { timeout: LIMIT_MS }, async () => {
      using keyring = createKeyring()
      const ref = 'provider:a:1'
      await steps(keyring, 'unlocked', library, `set=${ref}=first-key`)
      const locked = { code: 'credential_store_unavailable' }
      const args = ['available', `get=${ref}`, `set=${ref}=other-key`, `delete=${ref}`, 'refs']
      expect(await steps(keyring, 'locked', library, ...args)).toEqual([false, locked, locked, locked, locked])
      expect(await steps(keyring, 'unlocked', library, `get=${ref}`)).toEqual(['first-key'])
    })
  }
})
