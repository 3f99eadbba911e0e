import { mkdirSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { loadKeychain } from '../../../../src/main/providers/credentials/keychain-libraries.ts'
import { createKeyring, hasSecretService } from '../../../support/keyring.ts'
import type { Keyring } from '../../../support/keyring.ts'
import { createTempDir } from '../../../support/dir.ts'
import { filesHolding } from '../support.ts'

const SCRIPT = fileURLToPath(new URL('keychain-script.ts', import.meta.url))
const HOST = fileURLToPath(new URL('keychain-host-script.ts', import.meta.url))
const DONE = { applied: true, durable: true }
const LIMIT_MS = 180_000

async function steps(keyring: Keyring, state: 'unlocked' | 'locked', ...args: string[]): Promise<unknown[]> {
  return await printedBy(keyring, SCRIPT, state, args)
}

async function printedBy(
  keyring: Keyring,
  script: string,
  state: 'unlocked' | 'locked',
  args: readonly string[],
): Promise<unknown[]> {
  const printed = await keyring.run(script, args, state)
  return printed
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
}

// Each has a bus and a keyring of its own.
describe.skipIf(!hasSecretService()).concurrent('with a real Secret Service', () => {
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

  test(
    'PR-A16 Providers keep their keys there, say so when it is locked, and move them to a file and back',
    { timeout: LIMIT_MS },
    async () => {
      using keyring = createKeyring()
      using dir = createTempDir()
      const [folder, secrets] = [dir.at('data'), dir.at('data', 'providers', 'secrets')]
      mkdirSync(folder, { mode: 0o700 })
      const play = (state: 'unlocked' | 'locked', ...args: string[]) =>
        printedBy(keyring, HOST, state, [folder, ...args])
      const KEY = 'sk-kept-in-the-keychain'
      expect(await play('unlocked', `save=${KEY}`)).toEqual([['keychain', true]])
      expect(readdirSync(secrets)).toEqual(['backend.json'])
      const unavailable = 'credential_store_unavailable'
      expect(await play('locked', 'look', 'save=sk-another-key', 'move=file')).toEqual([
        ['keychain', false],
        unavailable,
        unavailable,
      ])
      expect(filesHolding(folder, KEY)).toEqual([])
      expect(await play('unlocked', 'look', 'move=file', 'save=sk-another-key')).toEqual([
        ['keychain', true],
        ['file', true],
        ['file', true, true],
      ])
      expect(filesHolding(folder, KEY)).toEqual([`${secrets}/secrets.json`])
      expect(await steps(keyring, 'unlocked', 'keytar', 'refs')).toEqual([[]])
      expect(await play('locked', 'look', 'move=keychain')).toEqual([['file', true, true], unavailable])
      expect(await play('unlocked', 'move=keychain')).toEqual([['keychain', true, true]])
      expect(filesHolding(folder, KEY)).toEqual([])
    },
  )
})
