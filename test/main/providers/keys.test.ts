import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSecret, createSecretRegistry } from '../../../src/main/platform/index.ts'
import { credentialHint, isCredential } from '../../../src/main/providers/credentials/hint.ts'
import { createKeys } from '../../../src/main/providers/credentials/keys.ts'
import { noProxy } from '../../../src/main/providers/launch/environment.ts'
import { createMemoryCredentials } from '../../support/credentials.ts'
import { createMemoryLog } from '../../support/log.ts'
import {
  askModel,
  bind,
  CANARY,
  codeOf,
  create,
  createFakeUpstream,
  createWorld,
  customInput,
  launch,
} from './support.ts'

function openKeys() {
  const store = createMemoryCredentials()
  const secrets = createSecretRegistry()
  return { store, secrets, keys: createKeys({ store, secrets, log: createMemoryLog() }) }
}

test('a key is read from the store once, and again after it was dropped', async () => {
  const { store, keys } = openKeys()
  await keys.set('provider:a:1', createSecret(CANARY))
  await keys.get('provider:a:1')
  await keys.get('provider:a:1')
  expect(store.reads()).toBe(1)
  keys.drop()
  await keys.get('provider:a:1')
  expect(store.reads()).toBe(2)
})

test('a key that is read while it is exchanged is not kept: the next read finds the new one', async () => {
  const { store, secrets } = openKeys()
  const { promise: written, resolve: write } = Promise.withResolvers<void>()
  const slow = {
    ...store,
    set: async (ref: string, secret: Parameters<typeof store.set>[1]) => {
      await written
      return await store.set(ref, secret)
    },
  }
  await store.set('gateway:local', createSecret('whg_old_key'))
  const keys = createKeys({ store: slow, secrets, log: createMemoryLog() })
  const exchanged = keys.set('gateway:local', createSecret('whg_new_key'))
  expect((await keys.get('gateway:local'))?.reveal('store')).toBe('whg_old_key')
  // One is still under way when the new key is there.
  const late = keys.get('gateway:local')
  write()
  await Promise.all([exchanged, late])
  expect((await keys.get('gateway:local'))?.reveal('store')).toBe('whg_new_key')
})

test('no key is written while all move, so that none stays behind', async () => {
  const { store, keys } = openKeys()
  const next = createMemoryCredentials()
  const { promise: moved, resolve: end } = Promise.withResolvers<void>()
  const move = keys.move(async () => {
    await moved
    return next
  })
  const set = keys.set('provider:a:1', createSecret(CANARY))
  end()
  await Promise.all([move, set])
  expect([store.snapshotRefs(), next.snapshotRefs()]).toEqual([[], ['provider:a:1']])
})

test('a key is redacted while it is held, and a dropped one is no longer in memory', async () => {
  const { keys, secrets } = openKeys()
  await keys.set('provider:a:1', createSecret(CANARY))
  await keys.get('provider:a:1')
  expect(secrets.redact(`key ${CANARY}`)).toBe('key [secret]')
  keys.drop()
  expect(secrets.redact(`key ${CANARY}`)).toBe(`key ${CANARY}`)
})

test('a request goes on with a key in memory when the keychain vanishes, and says why once it is dropped', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', upstream.url))
  const plan = await bind(host, launch(id))
  world.credentials.setAvailable(false)
  expect(await askModel(plan)).toBe(200)
  host.providers.dropKeys()
  // A local store that cannot be used is passing: the agent may try again.
  expect(await askModel(plan)).toBe(503)
  expect(await codeOf(bind(host, launch(id, { workerId: 'worker-2' })))).toBe('credential_store_unavailable')
  world.credentials.setAvailable(true)
  expect(await askModel(plan)).toBe(200)
})

test('PR-A10 no hint shows more than a known prefix and the last four characters', () => {
  const key = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCodePoint(code)),
    minLength: 8,
    maxLength: 200,
  })
  fc.assert(
    fc.property(key, (text) => {
      expect(isCredential(text)).toBe(true)
      const hint = credentialHint(text)
      const [start = '', end = ''] = hint.split('\u2022'.repeat(8))
      expect(text.startsWith(start)).toBe(true)
      expect(text.endsWith(end)).toBe(true)
      expect(start.length + end.length).toBeLessThanOrEqual(12)
      // A hint can never be saved as a key.
      expect(isCredential(hint)).toBe(false)
    }),
  )
})

test('PR-A24 loopback is always named, nothing twice, and what was there stays in front', () => {
  const entry = fc.constantFrom('corp', '10.0.0.0/8', '127.0.0.1', 'localhost', ' padded ', '')
  fc.assert(
    fc.property(fc.array(entry), fc.array(entry), (upper, lower) => {
      const { NO_PROXY, no_proxy } = noProxy({ NO_PROXY: upper.join(','), no_proxy: lower.join(',') })
      const names = NO_PROXY.split(',')
      expect(no_proxy).toBe(NO_PROXY)
      expect(new Set(names).size).toBe(names.length)
      expect(names).toEqual(expect.arrayContaining(['127.0.0.1', 'localhost', '::1']))
      expect(names).not.toContain('')
    }),
  )
})
