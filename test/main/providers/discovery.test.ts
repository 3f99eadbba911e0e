import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CANARY, codeOf, create, createFakeUpstream, createWorld, customInput, secret } from './support.ts'
import type { FakeUpstream } from './support.ts'

const signal = new AbortController().signal
const FRESH = { force: false }
const FORCED = { force: true }

function answerWith(upstream: FakeUpstream, status: number, body: unknown): void {
  upstream.answer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
}

test('PR-A06 a name that resolves to loopback or link-local is refused before anything is dialled', async () => {
  await using upstream = await createFakeUpstream()
  const port = new URL(upstream.url).port
  for (const addresses of [['127.0.0.1'], ['10.0.0.5', '169.254.1.1']]) {
    const resolve = async () => addresses.map((address) => ({ address, family: 4 as const }))
    await using world = await createWorld({ resolve })
    const { providers } = await world.open()
    const { id } = await create(providers, customInput('a', `http://rebind.example.com:${port}`))
    expect(await codeOf(providers.testConnection({ savedId: id }, signal))).toBe('upstream_address_blocked')
  }
  expect(upstream.requests).toEqual([])
})

test('PR-A17 an unsaved account is tested with its key, and nothing is written', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const account = { client: 'codex', preset: 'custom', baseUrl: upstream.url, key: secret(CANARY) } as const
  expect(await providers.testConnection(account, signal)).toMatchObject({ modelCount: 2 })
  expect(upstream.requests.map((request) => request.authorization)).toEqual([`Bearer ${CANARY}`])
  answerWith(upstream, 401, { error: 'no' })
  expect(await codeOf(providers.testConnection(account, signal))).toBe('model_profile_credential_not_ready')
  answerWith(upstream, 404, {})
  expect(await providers.testConnection(account, signal)).toMatchObject({ modelCount: 0 })
  answerWith(upstream, 500, {})
  expect(await codeOf(providers.testConnection(account, signal))).toBe('upstream_invalid')
  expect(world.catalogText()).toBe('')
  expect(world.credentials.snapshotRefs()).toEqual([])
})

test('PR-A17 a saved account is tested with its own address and key', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', `${upstream.url}/v1`))
  expect(await providers.testConnection({ savedId: id }, signal)).toMatchObject({ modelCount: 2 })
  expect(upstream.requests).toEqual([{ method: 'GET', url: '/v1/models', authorization: `Bearer ${CANARY}`, body: '' }])
})

test('PR-A17 the form of a saved account is tested with its stored key, which goes to no other host', async () => {
  await using upstream = await createFakeUpstream()
  await using other = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', upstream.url))
  const form = { id, client: 'codex', preset: 'custom', key: null } as const
  await providers.testConnection({ ...form, baseUrl: `${upstream.url}/v1` }, signal)
  expect(upstream.requests.map(({ url, authorization }) => [url, authorization])).toEqual([
    ['/v1/models', `Bearer ${CANARY}`],
  ])
  expect(await codeOf(providers.testConnection({ ...form, baseUrl: other.url }, signal))).toBe('model_profile_invalid')
  expect(other.requests).toEqual([])
})

test('PR-A17 an unsaved account is tested with the key in its variable, and a variable that is not set is named', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  world.environment['WHEELHOUSE_CREDENTIAL_ENV'] = 'TEAM_KEY'
  const { providers } = await world.open()
  const form = {
    client: 'codex',
    preset: 'custom',
    baseUrl: upstream.url,
    credentialEnv: 'TEAM_KEY',
    key: null,
  } as const
  await expect(providers.testConnection(form, signal)).rejects.toThrow('The variable TEAM_KEY is not set.')
  world.environment['TEAM_KEY'] = CANARY
  expect(await providers.testConnection(form, signal)).toMatchObject({ modelCount: 2 })
  expect(upstream.requests.map(({ authorization }) => authorization)).toEqual([`Bearer ${CANARY}`])
})

test('PR-A18 why an account did not answer stands in the view until it answers or its address changes', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', upstream.url))
  const refusal = async () => (await providers.catalog()).connections[0]?.refusal?.code
  const heard: unknown[] = []
  providers.onChange(() => heard.push(null))
  answerWith(upstream, 401, { error: 'no' })
  expect(await codeOf(providers.discover(id, FORCED, signal))).toBe('model_profile_credential_not_ready')
  expect([await refusal(), heard.length]).toEqual(['model_profile_credential_not_ready', 1])
  answerWith(upstream, 200, { data: [{ id: 'm-1' }] })
  await providers.testConnection({ savedId: id }, signal)
  expect([await refusal(), heard.length]).toEqual([undefined, 2])
  answerWith(upstream, 500, {})
  expect(await codeOf(providers.testConnection({ savedId: id }, signal))).toBe('upstream_invalid')
  expect(await refusal()).toBe('upstream_invalid')
  const { revision } = await providers.catalog()
  await providers.saveConnection({ ...customInput('a', `${upstream.url}/v1`), id }, null, revision, 'update')
  expect(await refusal()).toBeUndefined()
})

test('the rehearsal offers its model whoever is the default', async () => {
  await using world = await createWorld()
  const { providers } = await world.open()
  await create(providers, { name: 'Rehearsal', client: 'builtin', preset: 'rehearsal' }, null)
  expect(providers.choices('builtin').map(({ choice }) => choice.modelId)).toEqual(['rehearsal-1'])
})

test('PR-A18 a list is fresh for five minutes unless it is asked for', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', upstream.url))
  await providers.discover(id, FRESH, signal)
  await world.clock.advance(4 * 60_000)
  // Somebody sets the time back: what is fresh stays so, and no longer than it would have been.
  world.clock.jumpWall(-3_600_000)
  await providers.discover(id, FRESH, signal)
  expect(upstream.requests).toHaveLength(1)
  await providers.discover(id, FORCED, signal)
  expect(upstream.requests).toHaveLength(2)
  await world.clock.advance(5 * 60_000 + 1_000)
  await providers.discover(id, FRESH, signal)
  expect(upstream.requests).toHaveLength(3)
})

test('PR-A18 concurrent asks share one request, and a new key ends freshness', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', upstream.url))
  await Promise.all([providers.discover(id, FRESH, signal), providers.discover(id, FRESH, signal)])
  expect(upstream.requests).toHaveLength(1)
  await providers.saveConnection(customInput('a', upstream.url, { id }), secret(`${CANARY}2`), 1, 'update')
  await providers.discover(id, FRESH, signal)
  expect(upstream.requests.map((request) => request.authorization)).toEqual([`Bearer ${CANARY}`, `Bearer ${CANARY}2`])
})

test('PR-A19 a Provider that is down leaves the models last seen, said so', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', upstream.url))
  await providers.discover(id, FRESH, signal)
  answerWith(upstream, 503, {})
  const found = await providers.discover(id, FORCED, signal)
  expect(found).toMatchObject({ stale: true, outcome: { applied: true, durable: true } })
  expect(found.entries.map((entry) => [entry.id, entry.source])).toEqual([
    ['model-a', 'lkg'],
    ['model-b', 'lkg'],
  ])
})

test('PR-A19 a live list whose write fails is live, and not applied', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', upstream.url))
  world.fileFailpoints.failAt('before_rename')
  const found = await providers.discover(id, FRESH, signal)
  expect(found.outcome.applied).toBe(false)
  expect(found.entries.map((entry) => entry.source)).toEqual(['discovered', 'discovered'])
})

test('PR-A20 a model switched off stays off after a refresh, and a new one starts on', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', upstream.url))
  await providers.discover(id, FRESH, signal)
  const { value } = await providers.setEnabledModels(id, ['model-a'])
  expect(value.revision).toBe(1)
  answerWith(upstream, 200, { data: [{ id: 'model-a' }, { id: 'model-b' }, { id: 'model-c' }, { id: 'not a model' }] })
  const found = await providers.discover(id, FORCED, signal)
  expect(found.entries.map((entry) => [entry.id, entry.enabled])).toEqual([
    ['model-a', true],
    ['model-b', false],
    ['model-c', true],
  ])
  expect(providers.choices('codex').map((choice) => choice.label)).toEqual(['model-a', 'model-c'])
})

test('PR-A20 a model that was not offered for a while comes back as it was left: off', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', upstream.url))
  await providers.discover(id, FRESH, signal)
  await providers.setEnabledModels(id, ['model-a'])
  answerWith(upstream, 200, { data: [{ id: 'model-a' }, { id: 'model-c' }] })
  await providers.discover(id, FORCED, signal)
  await providers.setEnabledModels(id, ['model-a'])
  answerWith(upstream, 200, { data: [{ id: 'model-a' }, { id: 'model-b' }, { id: 'model-c' }] })
  const found = await providers.discover(id, FORCED, signal)
  expect(found.entries.flatMap((entry) => (entry.enabled ? [entry.id] : []))).toEqual(['model-a'])
})

test('PR-A18 what an account of before answers late is not kept as the list of the present one', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', upstream.url))
  const held: (() => void)[] = []
  upstream.answer((request, response) => {
    const isOld = request.headers.authorization === `Bearer ${CANARY}`
    const answer = () => void response.end(JSON.stringify({ data: [{ id: isOld ? 'old' : 'new' }] }))
    if (isOld) held.push(answer)
    else answer()
  })
  const late = providers.discover(id, FRESH, signal)
  await expect.poll(() => held.length, { timeout: 10_000 }).toBe(1)
  await providers.saveConnection(customInput('a', upstream.url, { id }), secret(`${CANARY}2`), 1, 'update')
  const found = await providers.discover(id, FRESH, signal)
  expect(found.entries.map((entry) => entry.id)).toEqual(['new'])
  held.forEach((answer) => answer())
  expect((await late).entries.map((entry) => entry.id)).toEqual(['new'])
})

test('PR-A17 a test is over in 10 s, however many pages the Provider has', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', upstream.url, { client: 'claude', authMode: 'x_api_key' }))
  upstream.answer((_request, response) => {
    if (upstream.requests.length === 1)
      response.end(JSON.stringify({ data: [{ id: 'c-1' }], has_more: true, last_id: 'c-1' }))
  })
  const code = codeOf(providers.testConnection({ savedId: id }, signal))
  await expect.poll(() => upstream.requests.length, { timeout: 10_000 }).toBe(2)
  await world.clock.advance(10_001)
  expect(await code).toBe('upstream_timeout')
})

test('what is no model in a list is passed over, and the others are kept', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('a', upstream.url))
  answerWith(upstream, 200, { data: [null, 5, [], { id: 7 }, { id: 'a' }, 'b', { id: '<b>' }, {}, { id: 'a' }] })
  const { entries } = await providers.discover(id, FORCED, signal)
  expect(entries.map((entry) => entry.id)).toEqual(['a', 'b'])
})

test('lists of any length leave a catalog that the bridge can carry, and what it does not show keeps its state', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const made: string[] = []
  for (const name of ['a', 'b', 'c', 'd']) {
    const { id } = await create(providers, customInput(name, upstream.url))
    made.push(id)
    const models = name === 'a' ? 3 : 5_000
    const data = Array.from({ length: models }, (_, at) => ({ id: `${'m'.repeat(250)}-${at}` }))
    answerWith(upstream, 200, { data })
    await providers.discover(id, FORCED, signal)
  }
  const { models } = await providers.catalog()
  expect(Buffer.byteLength(JSON.stringify(models))).toBeLessThan(3 * 1_048_576)
  const shown = made.map((id) => models[id]?.map((entry) => entry.id) ?? [])
  expect(shown[0]).toHaveLength(3)
  expect(shown[1]?.length).toBeGreaterThan(1_000)
  const [, second = ''] = made
  await providers.setEnabledModels(second, shown[1]?.slice(1) ?? [])
  const { entries } = await providers.discover(second, FORCED, signal)
  expect(entries.filter((entry) => !entry.enabled).map((entry) => entry.id)).toEqual(shown[1]?.slice(0, 1))
  expect(entries).toHaveLength(5_000)
})

test('a list in pages is followed to its end', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const { providers } = await world.open()
  const input = customInput('a', upstream.url, { client: 'claude', authMode: 'x_api_key' })
  const { id } = await create(providers, input)
  upstream.answer((request, response) => {
    const first = !String(request.url).includes('after_id')
    const page = first
      ? { data: [{ id: 'c-1' }], has_more: true, last_id: 'c-1' }
      : { data: [{ id: 'c-2' }], has_more: false }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(page))
  })
  const found = await providers.discover(id, FRESH, signal)
  expect(found.entries.map((entry) => entry.id)).toEqual(['c-1', 'c-2'])
  expect(upstream.requests.map((request) => request.url)).toEqual([
    '/v1/models?limit=1000',
    '/v1/models?limit=1000&after_id=c-1',
  ])
})

test('a malformed discovery file stops discovery alone, and a forced refresh sets it aside', async () => {
  await using upstream = await createFakeUpstream()
  await using world = await createWorld()
  const first = await world.open()
  const { id } = await create(first.providers, customInput('a', upstream.url))
  await first.stop()
  const path = world.dir.at('providers', 'discovery.json')
  writeFileSync(path, '{')
  const { providers } = await world.open()
  expect((await providers.catalog()).connections).toHaveLength(1)
  expect(await codeOf(providers.discover(id, FRESH, signal))).toBe('provider_discovery_cache_invalid')
  expect(readFileSync(path, 'utf8')).toBe('{')
  const found = await providers.discover(id, FORCED, signal)
  expect(found.entries).toHaveLength(2)
  const aside = readdirSync(world.dir.at('providers')).filter((name) => name.startsWith('discovery.json.corrupt-'))
  expect(aside).toHaveLength(1)
})
