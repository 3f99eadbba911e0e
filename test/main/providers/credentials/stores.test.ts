import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync, mkdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createDurableFile } from '../../../../src/main/platform/durable-file.ts'
import { createSecret } from '../../../../src/main/platform/index.ts'
import { openCredentialStore } from '../../../../src/main/providers/credentials/backend.ts'
import { createFileStore } from '../../../../src/main/providers/credentials/file-store.ts'
import { createKeychainStore } from '../../../../src/main/providers/credentials/keychain-store.ts'
import type { KeychainLibrary, KeychainName } from '../../../../src/main/providers/credentials/types.ts'
import { createFakeClock } from '../../../support/clock.ts'
import { createTempDir } from '../../../support/dir.ts'
import { createFakeFailpoints } from '../../../support/failpoints.ts'
import { createFakeIds } from '../../../support/ids.ts'
import { createMemoryLog } from '../../../support/log.ts'
import { codeOf } from '../support.ts'

const REF = 'provider:a:1'

/** A keychain in memory, as the libraries behave: locked, a read finds nothing and a write fails. */
function createFakeKeychain(name: KeychainName = 'keytar') {
  const items = new Map<string, string>()
  const state = { locked: false, hangs: false, calls: 0 }
  async function enter(): Promise<void> {
    state.calls += 1
    if (state.hangs) await new Promise(() => undefined)
  }
  const library: KeychainLibrary = {
    name,
    async get(account) {
      await enter()
      return state.locked ? null : (items.get(account) ?? null)
    },
    async set(account, text) {
      await enter()
      if (state.locked) throw new Error('unlock prompt was dismissed')
      items.set(account, text)
    },
    async delete(account) {
      await enter()
      return !state.locked && items.delete(account)
    },
    async accounts() {
      await enter()
      return [...items.keys()]
    },
  }
  return { library, state, items }
}

function files() {
  return createDurableFile({ ids: createFakeIds(9), failpoints: createFakeFailpoints() })
}

function backendDeps(dir: string, keychain: (name: KeychainName) => KeychainLibrary | null) {
  return { dir, clock: createFakeClock(), ids: createFakeIds(), log: createMemoryLog(), files: files(), keychain }
}

test('a locked keychain is unavailable, and never says that a key is not there', async () => {
  const { library, state } = createFakeKeychain()
  const store = createKeychainStore({ library, clock: createFakeClock(), ids: createFakeIds() })
  await store.set(REF, createSecret('key-of-test'))
  expect(await store.get('provider:none:1')).toBeNull()
  state.locked = true
  expect(await codeOf(store.get(REF))).toBe('credential_store_unavailable')
  expect(await codeOf(store.delete(REF))).toBe('credential_store_unavailable')
  expect(await codeOf(store.refs())).toBe('credential_store_unavailable')
  expect(await store.available()).toBe(false)
})

test('a keychain whose prompt nobody answers is given up after 5 s, a probe after 3 s', async () => {
  const { library, state } = createFakeKeychain()
  const clock = createFakeClock()
  const store = createKeychainStore({ library, clock, ids: createFakeIds() })
  state.hangs = true
  const read = codeOf(store.get(REF))
  const probe = store.available()
  await clock.advance(3_000)
  expect(await probe).toBe(false)
  await clock.advance(2_000)
  expect(await read).toBe('credential_store_unavailable')
  expect(clock.pending()).toBe(0)
})

test('the first start records the keychain that works, and leaves no canary behind', async () => {
  using dir = createTempDir()
  const broken = createFakeKeychain('keytar')
  broken.state.locked = true
  const working = createFakeKeychain('napi_keyring')
  const keychain = (name: KeychainName) => (name === 'keytar' ? broken.library : working.library)
  const store = await openCredentialStore(backendDeps(dir.at('secrets'), keychain))
  expect(store.backend).toBe('keychain')
  const record: unknown = JSON.parse(readFileSync(dir.at('secrets', 'backend.json'), 'utf8'))
  expect(record).toEqual({ version: 1, backend: 'keychain', library: 'napi_keyring' })
  expect([...working.items.keys()]).toEqual([])
})

test('PR-A16 a recorded keychain is never left for the other library or a file', async () => {
  using dir = createTempDir()
  const first = createFakeKeychain('keytar')
  await openCredentialStore(backendDeps(dir.at('secrets'), (name) => (name === 'keytar' ? first.library : null)))
  const other = createFakeKeychain('napi_keyring')
  const without = backendDeps(dir.at('secrets'), (name) => (name === 'keytar' ? null : other.library))
  expect(await codeOf(openCredentialStore(without))).toBe('credential_store_unavailable')
  expect(other.state.calls).toBe(0)
  first.state.locked = true
  const locked = await openCredentialStore(backendDeps(dir.at('secrets'), () => first.library))
  expect(locked.backend).toBe('keychain')
  expect(await locked.available()).toBe(false)
  expect(existsSync(dir.at('secrets', 'secrets.json'))).toBe(false)
})

test('without any keychain a private file serves, and is recorded', async () => {
  using dir = createTempDir()
  const deps = backendDeps(dir.at('secrets'), () => null)
  const store = await openCredentialStore(deps)
  expect(store.backend).toBe('file')
  await store.set(REF, createSecret('key-of-test'))
  expect((await store.get(REF))?.reveal('store')).toBe('key-of-test')
  expect(statSync(dir.at('secrets')).mode & 0o777).toBe(0o700)
  expect(statSync(dir.at('secrets', 'secrets.json')).mode & 0o777).toBe(0o600)
  const keychain = createFakeKeychain()
  const again = await openCredentialStore(backendDeps(dir.at('secrets'), () => keychain.library))
  expect(again.backend).toBe('file')
  expect(await again.refs()).toEqual([REF])
  await again.delete(REF)
  expect(await again.get(REF)).toBeNull()
})

test('the file narrows wrong modes and says so', async () => {
  using dir = createTempDir()
  const log = createMemoryLog()
  const store = createFileStore({ dir: dir.at('secrets'), files: files(), log })
  await store.set(REF, createSecret('key-of-test'))
  chmodSync(dir.at('secrets', 'secrets.json'), 0o644)
  await store.get(REF)
  expect(statSync(dir.at('secrets', 'secrets.json')).mode & 0o777).toBe(0o600)
  expect(log.entries.map((entry) => entry.level)).toEqual(['warn'])
})

test('the file is refused where it is a link, malformed or too large, and is not touched', async () => {
  using dir = createTempDir()
  mkdirSync(dir.at('secrets'))
  const path = dir.at('secrets', 'secrets.json')
  const store = createFileStore({ dir: dir.at('secrets'), files: files(), log: createMemoryLog() })
  for (const content of ['{', '{"version":2,"entries":{}}', `"${'x'.repeat(1024 * 1024)}"`]) {
    writeFileSync(path, content)
    expect(await codeOf(store.set(REF, createSecret('key-of-test')))).toBe('credential_store_failed')
    expect(readFileSync(path, 'utf8')).toBe(content)
  }
  writeFileSync(dir.at('elsewhere'), '{"version":1,"entries":{}}')
  using linked = createTempDir()
  mkdirSync(linked.at('secrets'))
  symlinkSync(dir.at('elsewhere'), linked.at('secrets', 'secrets.json'))
  const other = createFileStore({ dir: linked.at('secrets'), files: files(), log: createMemoryLog() })
  expect(await codeOf(other.get(REF))).toBe('credential_store_failed')
})

test('the file never grows beyond what is read again: the key that does not fit is refused, the others stay', async () => {
  using dir = createTempDir()
  const files = createDurableFile({ ids: createFakeIds(), failpoints: createFakeFailpoints() })
  const store = createFileStore({ dir: dir.at('secrets'), files, log: createMemoryLog() })
  await store.set('a', createSecret('x'.repeat(700_000)))
  expect(await codeOf(store.set('b', createSecret('y'.repeat(700_000))))).toBe('credential_store_failed')
  expect(await store.refs()).toEqual(['a'])
})
