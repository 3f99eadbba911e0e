import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  addressIn,
  askModel,
  bind,
  CANARY,
  codeOf,
  codexInput,
  create,
  createFakeUpstream,
  createWorld,
  customInput,
  errorOf,
  filesHolding,
  launch,
  secret,
} from './support.ts'

test('PR-A01 a name that is blank, padded, too long or has a control character is refused and nothing is stored', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  for (const name of [
    ' My AI ',
    '',
    'x'.repeat(65),
    'bell\u0007',
    'a\u202eb',
    'half\ud800',
    '\u3164',
    '\u2800 \ufe0f',
  ]) {
    const save = providers.saveConnection(codexInput(name), secret(CANARY), 0, 'create')
    expect([name, await codeOf(save)]).toEqual([name, 'model_profile_invalid'])
  }
  expect(world.catalogText()).toBe('')
  expect(world.credentials.snapshotRefs()).toEqual([])
})

test('PR-A02 two names that differ in case alone are the same', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  await create(providers, codexInput('Work'))
  const second = providers.saveConnection(codexInput('wORK'), secret(CANARY), 1, 'create')
  expect(await codeOf(second)).toBe('model_profile_conflict')
  expect((await providers.catalog()).connections).toHaveLength(1)
  expect(world.credentials.snapshotRefs()).toHaveLength(1)
})

test('PR-A03 a save with a stale revision changes nothing and says the revision of now', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  for (const name of ['one', 'two', 'three', 'four']) await create(providers, codexInput(name))
  const before = world.catalogText()
  const refs = world.credentials.snapshotRefs()
  const error = await errorOf(providers.saveConnection(codexInput('five'), secret(CANARY), 3, 'create'))
  expect(error).toMatchObject({ code: 'model_profile_conflict', detail: '4' })
  expect(world.catalogText()).toBe(before)
  expect(world.credentials.snapshotRefs()).toEqual(refs)
})

test('PR-A04 addresses with a user, a query or another scheme are invalid, and metadata addresses are blocked', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  const save = (url: string) => codeOf(providers.saveConnection(customInput('c', url), secret(CANARY), 0, 'create'))
  for (const url of ['http://user:p@h/v1', 'ftp://h', 'https://h/v1?x=1']) {
    expect([url, await save(url)]).toEqual([url, 'model_profile_invalid'])
  }
  for (const url of ['http://169.254.169.254/', 'http://[::ffff:a9fe:a9fe]/', 'http://metadata.google.internal']) {
    expect([url, await save(url)]).toEqual([url, 'upstream_address_blocked'])
  }
  expect(world.credentials.snapshotRefs()).toEqual([])
})

test('PR-A05 an odd spelling of loopback is saved as parsed, and the own port of the Router is refused', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const { providers } = host
  const { id, view } = await create(providers, customInput('local', upstream.url.replace('127.0.0.1', '0x7f.1')))
  expect(view.connections[0]?.baseUrl).toBe(upstream.url)
  const plan = await bind(host, launch(id))
  expect(await askModel(plan)).toBe(200)
  const { port } = new URL(addressIn(plan))
  for (const name of ['localhost', '0x7f.1', '[::1]']) {
    const own = providers.saveConnection(customInput('own', `http://${name}:${port}`), null, 1, 'create')
    expect([name, await codeOf(own)]).toEqual([name, 'model_profile_invalid'])
  }
})

test('PR-A08 variable names and model ids are checked', async () => {
  await using world = await createWorld()
  world.environment['WHEELHOUSE_CREDENTIAL_ENV'] = '1A, A-B, A_B'
  const { providers } = await world.open()
  const save = async (more: object): Promise<string> => {
    const { revision } = await providers.catalog()
    const input = customInput(`c${revision}`, 'https://api.example.com', more)
    return codeOf(providers.saveConnection(input, null, revision, 'create'))
  }
  expect(await save({ credentialEnv: '1A' })).toBe('model_profile_invalid')
  expect(await save({ credentialEnv: 'A-B' })).toBe('model_profile_invalid')
  expect(await save({ credentialEnv: 'A_B' })).toBe('none')
  expect(await save({ manualModelId: 'm'.repeat(256) })).toBe('none')
  expect(await save({ manualModelId: 'm'.repeat(257) })).toBe('model_profile_invalid')
  expect(await save({ manualModelId: 'a//b' })).toBe('model_profile_invalid')
  expect(await save({ manualModelId: '../x' })).toBe('model_profile_invalid')
  expect(await save({ manualModelId: '@cf/meta/llama' })).toBe('none')
})

test('PR-A09 a key that is short, has a space or a bullet is refused and never staged', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  for (const key of ['1234567', 'with a space', 'sk-\u2022\u2022\u2022\u2022abcd', 'line\nbreak1']) {
    const save = providers.saveConnection(codexInput('a'), secret(key), 0, 'create')
    expect([key, await codeOf(save)]).toEqual([key, 'model_profile_invalid'])
  }
  expect(world.credentials.snapshotRefs()).toEqual([])
})

test('PR-A10 a hint shows no more of a key than its length allows', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  const hints: (string | undefined)[] = []
  for (const key of [
    'a'.repeat(11),
    'abcdefghijkl',
    'abcdefghijklmnopqrstuvw',
    'abcdefghijklmnopqrstuvwx',
    `sk-ant-${'k'.repeat(36)}last`,
  ]) {
    const { id, view } = await create(providers, codexInput(`n${hints.length}`), key)
    hints.push(view.connections.find((row) => row.id === id)?.credentialHint)
  }
  const bullets = '\u2022'.repeat(8)
  expect(hints).toEqual([bullets, `${bullets}kl`, `${bullets}vw`, `ab${bullets}uvwx`, `sk-ant-${bullets}last`])
})

test('PR-A16 a recorded keychain that cannot be used leaves keys unready, refuses a save, and no file takes its place', async () => {
  await using world = await createWorld()
  const first = await world.open()
  await create(first.providers, codexInput('a'))
  await first.stop()
  world.credentials.setAvailable(false)
  const { providers } = await world.open()
  const view = await providers.catalog()
  expect(view.connections[0]?.credentialReady).toBe(false)
  const save = providers.saveConnection(codexInput('b'), secret(CANARY), view.revision, 'create')
  expect(await codeOf(save)).toBe('credential_store_unavailable')
  expect(filesHolding(world.dir.path, CANARY)).toEqual([])
})

test('PR-A16 a keychain that is unlocked later is ready without a new start', async () => {
  await using world = await createWorld()
  const first = await world.open()
  await create(first.providers, codexInput('a'))
  await first.stop()
  world.credentials.setAvailable(false)
  const { providers } = await world.open()
  expect((await providers.catalog()).connections[0]?.credentialReady).toBe(false)
  world.credentials.setAvailable(true)
  expect((await providers.catalog()).connections[0]).toMatchObject({ credentialReady: true })
})

test('PR-A21 a default on another connection needs a model', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  const a = await create(providers, codexInput('a'))
  const b = await create(providers, codexInput('b'))
  const empty = providers.setDefault('codex', { connectionId: a.id, modelId: '' }, 2)
  expect(await codeOf(empty)).toBe('model_profile_invalid')
  await providers.setDefault('codex', { connectionId: a.id, modelId: 'gpt-test' }, 2)
  const kept = await providers.setDefault('codex', { connectionId: a.id, modelId: '' }, 3)
  expect(kept.value.defaults.codex).toEqual({ connectionId: a.id, modelId: 'gpt-test' })
  expect(await codeOf(providers.setDefault('codex', { connectionId: b.id, modelId: '' }, 4))).toBe(
    'model_profile_invalid',
  )
})

test('PR-A84 a save that breaks the rules of key, id, client, origin or variable changes nothing', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', 'https://one.example.com/v1'))
  const before = world.catalogText()
  const save = (input: Parameters<typeof providers.saveConnection>[0], key: string | null, mode: 'create' | 'update') =>
    codeOf(providers.saveConnection(input, key === null ? null : secret(key), 1, mode))
  const other = customInput('b', 'https://two.example.com')
  expect(await save({ ...other, authMode: 'none' }, CANARY, 'create')).toBe('model_profile_invalid')
  expect(await save({ ...other, id: 'mine' }, null, 'create')).toBe('model_profile_invalid')
  expect(await save({ ...other, id: 'unknown' }, null, 'update')).toBe('model_profile_not_found')
  const asClaude = customInput('a', 'https://one.example.com/v1', { id, client: 'claude' })
  expect(await save(asClaude, null, 'update')).toBe('model_profile_invalid')
  expect(await save(customInput('a', 'https://evil.example.com/v1', { id }), null, 'update')).toBe(
    'model_profile_invalid',
  )
  expect(await save({ ...other, credentialEnv: 'HOME' }, null, 'create')).toBe('model_profile_invalid')
  expect(world.catalogText()).toBe(before)
})

test("PR-A85 an update with the view's own fields and no key keeps the row as it is", async () => {
  await using world = await createWorld()
  world.environment['WHEELHOUSE_CREDENTIAL_ENV'] = 'MY_KEY'
  const { providers } = await world.open()
  const { id, view } = await create(providers, codexInput('a', { credentialEnv: 'MY_KEY', tunnelWebSocket: true }))
  const before: { connections: unknown[] } = JSON.parse(world.catalogText())
  const row = view.connections[0]
  const input = codexInput('a', {
    id,
    credentialEnv: row?.credentialEnv ?? '',
    tunnelWebSocket: row?.tunnelWebSocket ?? false,
  })
  const updated = await providers.saveConnection(input, null, 1, 'update')
  expect(updated.value.revision).toBe(2)
  const after: { connections: unknown[] } = JSON.parse(world.catalogText())
  expect(after.connections).toEqual(before.connections)
})

test('a catalog with a row that leads nowhere leaves Providers unavailable: its key would go elsewhere', async () => {
  await using world = await createWorld()
  const path = world.dir.at('providers', 'catalog.json')
  mkdirSync(world.dir.at('providers'), { recursive: true })
  const row = { id: 'a', name: 'a', client: 'codex', preset: 'custom' }
  const rows = [row, { ...row, baseUrl: 'not an address' }, { ...row, preset: 'anthropic' }]
  for (const broken of rows) {
    const text = JSON.stringify({ schemaVersion: 1, revision: 1, connections: [broken], defaults: {} })
    writeFileSync(path, text)
    const host = await world.open()
    expect(host.providers.failure()).toMatchObject({ code: 'model_profiles_unavailable', detail: path })
    expect(readFileSync(path, 'utf8')).toBe(text)
    await host.stop()
  }
})

test('a malformed catalog leaves Providers unavailable and is not touched', async () => {
  await using world = await createWorld()
  const first = await world.open()
  await create(first.providers, codexInput('a'))
  await first.stop()
  const path = world.dir.at('providers', 'catalog.json')
  writeFileSync(path, '{"schemaVersion":2}')
  const { providers } = await world.open()
  expect(providers.failure()).toMatchObject({ code: 'model_profiles_unavailable', detail: path })
  expect(await codeOf(providers.catalog())).toBe('model_profiles_unavailable')
  expect(readFileSync(path, 'utf8')).toBe('{"schemaVersion":2}')
})
