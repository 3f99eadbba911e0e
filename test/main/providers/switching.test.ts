import { expect, test } from 'vitest'
import type { RuntimeChange } from '../../../src/main/providers/index.ts'
import {
  addressIn,
  askModel,
  bind,
  codeOf,
  codexInput,
  create,
  createFakeUpstream,
  createWorld,
  customInput,
  launch,
} from './support.ts'

function change(connectionId: string | null, more: Partial<RuntimeChange> = {}): RuntimeChange {
  const choice = { connectionId, modelId: 'gpt-test', effort: 'default' as const }
  return { sessionId: 'session-1', client: 'codex', choice, allowHistoryStrip: false, ...more }
}

test('a moved session sends its next request to the new Provider, under the model that the agent knows', async () => {
  await using world = await createWorld()
  await using one = await createFakeUpstream()
  await using two = await createFakeUpstream()
  const host = await world.open()
  const a = await create(host.providers, customInput('a', one.url, { client: 'claude' }))
  const b = await create(host.providers, customInput('b', two.url, { client: 'claude' }))
  const first = { connectionId: a.id, modelId: 'claude-one', effort: 'default' as const }
  const plan = await bind(host, launch(a.id, { client: 'claude', form: 'cli', choice: first }))
  const second = { connectionId: b.id, modelId: 'claude-two', effort: 'default' as const }
  const effect = await host.store.writeTx((tx) =>
    host.providers.changeRuntime(change(b.id, { client: 'claude', choice: second }), tx),
  )
  expect(effect).toEqual({ kind: 'now', historyStripped: false })
  const answer = await fetch(`${String(plan.envSet['ANTHROPIC_BASE_URL'])}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': plan.key?.reveal('local_key_file') ?? '', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'claude-one', max_tokens: 1, messages: [] }),
  })
  await answer.text()
  expect(one.requests).toEqual([])
  expect(two.requests.map((request) => JSON.parse(request.body).model)).toEqual(['claude-two'])
})

test('a running Claude Code takes a model that holds less than its own only with its next turn, under the new name', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', 'http://127.0.0.1:9', { client: 'claude' }))
  const of = (modelId: string) => ({ connectionId: id, modelId, effort: 'default' as const })
  await bind(host, launch(id, { client: 'claude', form: 'cli', choice: of('claude-opus-4-8') }))
  const kindOn = (modelId: string) =>
    host.providers.previewRuntime(change(id, { client: 'claude', choice: of(modelId) })).kind
  expect(kindOn('claude-haiku-4-5')).toBe('next_turn')
  expect(kindOn('claude-opus-4-6[1m]')).toBe('now')
  // What is unknown is not compared.
  expect(kindOn('somebody/else')).toBe('now')
  const stored = () => JSON.parse(host.store.db.prepare('SELECT binding FROM routes').pluck().get() as string)
  expect(stored()).toMatchObject({ provenance: 'builtin_catalog' })
  const sonnet = change(id, { client: 'claude', choice: of('claude-sonnet-5') })
  await host.store.writeTx((tx) => host.providers.changeRuntime(sonnet, tx))
  expect(stored()).toMatchObject({
    provenance: 'configured_compatibility',
    clientModel: 'claude-opus-4-8',
    upstreamModel: 'claude-sonnet-5',
  })
  await host.stop()
  expect((await world.open()).providers.notices()).toEqual([])
})

test("a session leaves the agent's own login for a Provider only when its history may be cut", async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  await host.store.writeTx((tx) => host.providers.bindWorker(launch(null), tx))
  expect(host.providers.previewRuntime(change(id))).toEqual({ kind: 'refused', code: 'route_binding_incompatible' })
  const allowed = change(id, { allowHistoryStrip: true })
  const effect = await host.store.writeTx((tx) => host.providers.changeRuntime(allowed, tx))
  expect(effect).toEqual({ kind: 'next_turn', historyStripped: true })
  expect(await codeOf(bind(host, launch(id)))).toBe('none')
})

test('a routed history that no Router could cut does not go to the own login', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', upstream.url))
  const plan = await bind(host, launch(id))
  expect(host.providers.previewRuntime(change(null))).toEqual({ kind: 'next_turn', historyStripped: false })
  expect(await askModel(plan)).toBe(200)
  const leave = change(null, { allowHistoryStrip: true })
  expect(host.providers.previewRuntime(leave)).toEqual({ kind: 'refused', code: 'route_binding_incompatible' })
})

test('the mark of a history outlives a restart and the end of its worker, until the session is forgotten', async () => {
  await using world = await createWorld()
  await using one = await createFakeUpstream()
  const first = await world.open()
  const a = await create(first.providers, customInput('a', one.url))
  const b = await create(first.providers, customInput('b', 'https://api.example.com/v1'))
  expect(await askModel(await bind(first, launch(a.id)))).toBe(200)
  await first.providers.unbindWorker('worker-1', { kind: 'gone' })
  await first.stop()
  const host = await world.open()
  await host.providers.catalog()
  expect(await codeOf(bind(host, launch(b.id)))).toBe('route_binding_incompatible')
  await host.store.writeTx((tx) => host.providers.forgetSession('session-1', tx))
  expect(await codeOf(bind(host, launch(b.id)))).toBe('none')
})

test('a switch of all sessions names what would happen to each', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const a = await create(host.providers, customInput('a', upstream.url))
  const b = await create(host.providers, customInput('b', 'http://127.0.0.1:9/v1', { manualModelId: 'gpt-test' }))
  const plan = await bind(host, launch(a.id))
  await bind(host, launch(a.id, { workerId: 'worker-2', sessionId: 'session-2' }))
  expect(await askModel(plan)).toBe(200)
  const effects = (allowHistoryStrip: boolean) =>
    host.providers
      .previewSwitch('codex', b.id, { allowHistoryStrip })
      .map(({ sessionId, to, effect }) => [sessionId, to.modelId, effect])
  expect(effects(false)).toEqual([
    ['session-1', 'gpt-test', { kind: 'refused', code: 'route_binding_incompatible' }],
    ['session-2', 'gpt-test', { kind: 'now', historyStripped: false }],
  ])
  expect(effects(true)[0]).toEqual(['session-1', 'gpt-test', { kind: 'now', historyStripped: true }])
})

test('a switch keeps a model that the new connection offers, and takes its first one for the others', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const a = await create(host.providers, customInput('a', 'http://127.0.0.1:9/v1'))
  const b = await create(host.providers, customInput('b', upstream.url))
  await host.providers.discover(b.id, { force: true }, new AbortController().signal)
  const on = (modelId: string) => ({ connectionId: a.id, modelId, effort: 'default' as const })
  await bind(host, launch(a.id, { choice: on('model-b') }))
  await bind(host, launch(a.id, { workerId: 'worker-2', sessionId: 'session-2', choice: on('gpt-elsewhere') }))
  expect(host.providers.switchTarget('codex', b.id)).toEqual({ connectionId: b.id, modelId: 'model-a' })
  const steps = host.providers.previewSwitch('codex', b.id, { allowHistoryStrip: false })
  expect(steps.map(({ to, effect }) => [to.modelId, effect.kind])).toEqual([
    ['model-b', 'now'],
    ['model-a', 'next_turn'],
  ])
})

test('a switch to a connection without a known model, or of another agent, is refused', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  const preview = (client: 'codex' | 'builtin') =>
    host.providers.previewSwitch(client, id, { allowHistoryStrip: false })
  expect(await codeOf(() => preview('codex'))).toBe('upstream_model_required')
  expect(await codeOf(() => preview('builtin'))).toBe('model_profile_unsupported')
})

test('the rehearsal needs no key, and its address is asked for at each request', async () => {
  await using upstream = await createFakeUpstream()
  let origin: string | null = null
  await using world = await createWorld({ rehearsalOrigin: () => origin })
  const host = await world.open()
  const { id, view } = await create(host.providers, { name: 'Try it', client: 'codex', preset: 'rehearsal' }, null)
  expect(view.connections[0]).toMatchObject({ credentialReady: true, warnings: [] })
  const plan = await bind(host, launch(id))
  expect(await askModel(plan)).toBe(502)
  origin = upstream.url
  expect(await askModel(plan)).toBe(200)
  expect(upstream.requests[0]).toMatchObject({ url: '/v1/responses', authorization: '' })
  expect(addressIn(plan)).not.toContain(origin)
})

test('a route beyond the bound is refused, and the others go on', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  await host.providers.prepareWorker(launch(id), new AbortController().signal)
  await host.store.writeTx((tx) => {
    for (let n = 1; n <= 512; n += 1)
      host.providers.bindWorker(launch(id, { workerId: `w-${n}`, sessionId: `s-${n}` }), tx)
  })
  expect(await codeOf(bind(host, launch(id)))).toBe('route_limit_reached')
  expect(await codeOf(bind(host, launch(id, { workerId: 'w-1', sessionId: 's-1' })))).toBe('none')
})
