import { expect, test } from 'vitest'
import type { RoutePlan } from '../../../src/main/providers/index.ts'
import {
  askModel,
  bind,
  CANARY,
  codeOf,
  codexInput,
  create,
  createFakeUpstream,
  createWorld,
  customInput,
  launch,
  secret,
} from './support.ts'
import type { FakeUpstream } from './support.ts'

const SECOND = 'sk-second-0123456789abcdef012345'

/** One request of the agent on its route; answers the credentials that the Provider was sent. */
async function request(plan: RoutePlan, upstream: FakeUpstream): Promise<string> {
  await askModel(plan)
  return upstream.requests.at(-1)?.authorization ?? ''
}

test('PR-A11 a crash after STAGE leaves the old version whole, and the next start sweeps the staged key', async () => {
  await using world = await createWorld()
  const first = await world.open()
  const { id } = await create(first.providers, customInput('old', 'https://one.example.com/v1'))
  const before = world.catalogText()
  const refs = world.credentials.snapshotRefs()
  world.failpoints.failAt('providers.after_stage')
  const input = customInput('new', 'https://two.example.com/v1', { id })
  await expect(first.providers.saveConnection(input, secret(SECOND), 1, 'update')).rejects.toThrow('failpoint')
  expect(world.credentials.snapshotRefs()).toHaveLength(2)
  await first.stop()
  const { providers } = await world.open()
  const view = await providers.catalog()
  expect(view.connections[0]).toMatchObject({ name: 'old', baseUrl: 'https://one.example.com/v1' })
  expect(world.catalogText()).toBe(before)
  expect(world.credentials.snapshotRefs()).toEqual(refs)
})

test('PR-A11 a crash after COMMIT leaves the new version whole, and the next start sweeps the old key', async () => {
  await using world = await createWorld()
  const first = await world.open()
  const { id } = await create(first.providers, customInput('old', 'https://one.example.com/v1'))
  const [oldRef] = world.credentials.snapshotRefs()
  world.failpoints.failAt('providers.after_commit')
  const input = customInput('new', 'https://two.example.com/v1', { id })
  await expect(first.providers.saveConnection(input, secret(SECOND), 1, 'update')).rejects.toThrow('failpoint')
  await first.stop()
  const { providers } = await world.open()
  const view = await providers.catalog()
  expect(view.connections[0]).toMatchObject({
    name: 'new',
    baseUrl: 'https://two.example.com/v1',
    credentialReady: true,
  })
  expect(view.connections[0]?.credentialHint?.slice(-4)).toBe(SECOND.slice(-4))
  expect(world.credentials.snapshotRefs()).toHaveLength(1)
  expect(world.credentials.snapshotRefs()).not.toContain(oldRef)
})

const EDIT_POINTS = ['before_stage', 'after_stage', 'before_commit', 'after_commit', 'before_cleanup', 'after_cleanup']
for (const point of EDIT_POINTS) {
  test(`PR-A11 a crash at ${point} leaves one whole version and no orphaned key`, async () => {
    await using world = await createWorld()
    const first = await world.open()
    const { id } = await create(first.providers, customInput('old', 'https://one.example.com/v1'))
    world.failpoints.failAt(`providers.${point}`)
    const input = customInput('new', 'https://two.example.com/v1', { id })
    await first.providers.saveConnection(input, secret(SECOND), 1, 'update').catch(() => undefined)
    await first.stop()
    const { providers } = await world.open()
    const [row] = (await providers.catalog()).connections
    const shown = { name: row?.name, baseUrl: row?.baseUrl, end: row?.credentialHint?.slice(-4) }
    const old = { name: 'old', baseUrl: 'https://one.example.com/v1', end: CANARY.slice(-4) }
    const next = { name: 'new', baseUrl: 'https://two.example.com/v1', end: SECOND.slice(-4) }
    expect([old, next]).toContainEqual(shown)
    expect(world.credentials.snapshotRefs()).toHaveLength(1)
  })
}

for (const point of ['before_write', 'after_write', 'before_rename', 'after_rename', 'before_dirsync']) {
  test(`PR-A11 a catalog write that fails at ${point} is told honestly and leaves no staged key`, async () => {
    await using world = await createWorld()
    const { providers } = await world.open()
    const { id } = await create(providers, customInput('old', 'https://one.example.com/v1'))
    world.fileFailpoints.failAt(point)
    const input = customInput('new', 'https://two.example.com/v1', { id })
    const saved = await providers.saveConnection(input, secret(SECOND), 1, 'update').catch(() => null)
    const applied = point === 'after_rename' || point === 'before_dirsync'
    expect(saved?.outcome ?? null).toEqual(applied ? { applied: true, durable: false } : null)
    const [row] = (await providers.catalog()).connections
    expect(row?.name).toBe(applied ? 'new' : 'old')
    expect(row?.credentialHint?.slice(-4)).toBe((applied ? SECOND : CANARY).slice(-4))
    expect(world.credentials.snapshotRefs()).toHaveLength(1)
  })
}

test('PR-A12 an update without a key keeps the stored one', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, codexInput('a'))
  const refs = world.credentials.snapshotRefs()
  await providers.saveConnection(codexInput('renamed', { id }), null, 1, 'update')
  expect(world.credentials.snapshotRefs()).toEqual(refs)
  expect((await providers.catalog()).connections[0]).toMatchObject({ name: 'renamed', credentialReady: true })
})

test('PR-A12 a rotated key reaches the running session at its next request, without a new generation', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', upstream.url))
  const plan = await bind(host, launch(id))
  expect(await request(plan, upstream)).toBe(`Bearer ${CANARY}`)
  const [oldRef] = world.credentials.snapshotRefs()
  await host.providers.saveConnection(customInput('a', upstream.url, { id }), secret(SECOND), 1, 'update')
  expect(await request(plan, upstream)).toBe(`Bearer ${SECOND}`)
  expect(host.providers.sessionRuntime('session-1')?.generation).toBe(1)
  expect(world.credentials.snapshotRefs()).not.toContain(oldRef)
})

test('PR-A13 a session stays on the old address and key when both move, until it is bound again', async () => {
  await using world = await createWorld()
  await using before = await createFakeUpstream()
  await using after = await createFakeUpstream()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', before.url))
  const plan = await bind(host, launch(id))
  const [oldRef] = world.credentials.snapshotRefs()
  await host.providers.saveConnection(customInput('a', after.url, { id }), secret(SECOND), 1, 'update')
  expect(await request(plan, before)).toBe(`Bearer ${CANARY}`)
  expect(after.requests).toEqual([])
  expect(world.credentials.snapshotRefs()).toContain(oldRef)
  await host.providers.unbindWorker('worker-1', { kind: 'gone' })
  host.providers.dropKeys()
  await host.stop()
  const again = await world.open()
  await again.providers.catalog()
  expect(world.credentials.snapshotRefs()).not.toContain(oldRef)
})

test('PR-A14 a default and a bound connection are not deleted, and keep their key', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { providers } = host
  const a = await create(providers, codexInput('a'))
  const b = await create(providers, codexInput('b'))
  await providers.setDefault('codex', { connectionId: a.id, modelId: 'gpt-test' }, 2)
  await bind(host, launch(b.id))
  expect(await codeOf(providers.deleteConnection(a.id, 3))).toBe('model_profile_in_use')
  expect(await codeOf(providers.deleteConnection(b.id, 3))).toBe('model_profile_in_use')
  expect(world.credentials.snapshotRefs()).toHaveLength(2)
  await providers.unbindWorker('worker-1', { kind: 'gone' })
  const gone = await providers.deleteConnection(b.id, 3)
  expect(gone.value.connections.map((row) => row.name)).toEqual(['a'])
  expect(world.credentials.snapshotRefs()).toHaveLength(1)
})

test('PR-A15 a delete whose key cannot be deleted changes nothing', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, codexInput('a'))
  const before = world.catalogText()
  world.credentials.setFail({ delete: true })
  expect(await codeOf(providers.deleteConnection(id, 1))).toBe('credential_store_failed')
  expect(world.catalogText()).toBe(before)
  world.credentials.setFail({})
  expect((await providers.catalog()).connections[0]?.credentialReady).toBe(true)
})

test('PR-A15 a delete whose catalog write fails leaves the row, not ready', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, codexInput('a'))
  world.fileFailpoints.failAt('before_rename')
  expect(await codeOf(providers.deleteConnection(id, 1))).toBe('file_failed')
  expect((await providers.catalog()).connections[0]).toMatchObject({ id, credentialReady: false })
})

test('a sibling for another agent gets the key inside the store', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, { name: 'a', client: 'codex', preset: 'openrouter' })
  const { value } = await providers.copyConnection(id, { client: 'claude', name: 'a for Claude' }, 1)
  const sibling = value.connections.find((row) => row.client === 'claude')
  expect(sibling).toMatchObject({ name: 'a for Claude', preset: 'openrouter', credentialReady: true })
  await providers.clearCredential(id, 2)
  const ready = (await providers.catalog()).connections.map((row) => row.credentialReady)
  expect(ready).toEqual([false, true])
})
