import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { AppError } from '../../../../src/shared/errors.ts'
import { moveKeys } from '../../../../src/main/providers/credentials/migrate.ts'
import { createMemoryCredentials } from '../../../support/credentials.ts'
import { createMemoryLog } from '../../../support/log.ts'
import {
  askModel,
  bind,
  codeOf,
  create,
  createFakeUpstream,
  createWorld,
  customInput,
  launch,
  secret,
} from '../support.ts'

async function filled() {
  const from = createMemoryCredentials()
  await from.set('provider:a:1', secret('first-key'))
  await from.set('gateway:local', secret('second-key'))
  return { from, to: createMemoryCredentials(), log: createMemoryLog() }
}

test('keys are copied and read back before the record flips, and leave the old store after it', async () => {
  const { from, to, log } = await filled()
  let atFlip: readonly string[][] = []
  await moveKeys(from, to, {
    log,
    async flip() {
      atFlip = [[...from.snapshotRefs()], [...to.snapshotRefs()]]
    },
  })
  const refs = ['gateway:local', 'provider:a:1']
  expect(atFlip).toEqual([refs, refs])
  expect([from.snapshotRefs(), to.snapshotRefs()]).toEqual([[], refs])
  expect((await to.get('provider:a:1'))?.equals(secret('first-key'))).toBe(true)
})

test('a move that fails leaves the old store whole and in charge, and no copies', async () => {
  for (const fail of ['unavailable', 'set', 'flip', 'other'] as const) {
    const { from, to, log } = await filled()
    if (fail === 'unavailable') to.setAvailable(false)
    if (fail === 'set') to.setFail({ set: true })
    const target = fail === 'other' ? { ...to, get: async () => secret('something-else') } : to
    const flip = () =>
      fail === 'flip'
        ? Promise.reject(new AppError('credential_store_unavailable', 'The record could not be written.'))
        : Promise.resolve()
    expect(await codeOf(moveKeys(from, target, { flip, log }))).toMatch(/^credential_store_(?:unavailable|failed)$/)
    expect([fail, from.snapshotRefs(), to.snapshotRefs()]).toEqual([fail, ['gateway:local', 'provider:a:1'], []])
  }
})

test('an old store that does not let go of its keys is said, and the move stands', async () => {
  const { from, to, log } = await filled()
  from.setFail({ delete: true })
  await moveKeys(from, to, { flip: () => Promise.resolve(), log })
  expect(to.snapshotRefs()).toHaveLength(2)
  expect(log.entries.filter(({ level }) => level === 'warn')).toHaveLength(2)
})

test('a running session goes on with its key in the other store, and the next start reads it there', async () => {
  await using world = await createWorld({ keychain: () => null })
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', upstream.url))
  const plan = await bind(host, launch(id))
  expect(await codeOf(host.providers.moveCredentials('keychain'))).toBe('credential_store_unavailable')
  const moved = await host.providers.moveCredentials('file')
  expect(moved.value.credentialBackend).toBe('file')
  expect(moved.value.connections[0]).toMatchObject({ credentialReady: true })
  expect(world.credentials.snapshotRefs()).toEqual([])
  host.providers.dropKeys()
  expect(await askModel(plan)).toBe(200)
  expect(upstream.requests.at(-1)?.authorization).toMatch(/^Bearer sk-canary/)
  const record = world.dir.at('providers', 'secrets', 'backend.json')
  expect(existsSync(record) && JSON.parse(readFileSync(record, 'utf8'))).toEqual({ version: 1, backend: 'file' })
})
