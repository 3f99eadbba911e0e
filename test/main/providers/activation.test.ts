/** Moving what runs, and what a restart makes of it. */
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { RoutePlan, RuntimeChange, RuntimeEffect } from '../../../src/main/providers/index.ts'
import {
  addressIn,
  askModel,
  bind,
  codeOf,
  create,
  createFakeUpstream,
  createWorld,
  customInput,
  launch,
  routeKey,
} from './support.ts'
import type { World } from './support.ts'

type Host = Awaited<ReturnType<World['open']>>

function to(connectionId: string, more: Partial<RuntimeChange> = {}): RuntimeChange {
  const choice = { connectionId, modelId: 'gpt-test', effort: 'default' as const }
  return { sessionId: 'session-1', client: 'codex', choice, allowHistoryStrip: false, ...more }
}

const move = (host: Host, change: RuntimeChange): Promise<RuntimeEffect> =>
  host.store.writeTx((tx) => host.providers.changeRuntime(change, tx))

const row = (host: Host): Record<string, string> =>
  host.store.db.prepare('SELECT * FROM routes').get() as Record<string, string>

/** Two connections that lead to two Providers, and a session of Codex on the first. */
async function twoProviders(world: World) {
  const one = await createFakeUpstream()
  const two = await createFakeUpstream()
  const host = await world.open()
  const a = await create(host.providers, customInput('a', one.url))
  const b = await create(host.providers, customInput('b', two.url))
  const plan = await bind(host, launch(a.id))
  return {
    host,
    one,
    two,
    a: a.id,
    b: b.id,
    plan,
    async [Symbol.asyncDispose]() {
      await one[Symbol.asyncDispose]()
      await two[Symbol.asyncDispose]()
    },
  }
}

test('PR-A30 of 70 moves the newest 64 are remembered, and what the worker was started on stays', async () => {
  await using world = await createWorld()
  await using at = await twoProviders(world)
  const launched = row(at.host)['launched']
  for (let n = 0; n < 70; n++) expect((await move(at.host, to(n % 2 === 0 ? at.b : at.a))).kind).toBe('now')
  const after = row(at.host)
  const history = JSON.parse(after['history'] ?? '') as { generation: number; to: { connectionId: string } }[]
  expect(history.map(({ generation }) => generation)).toEqual(Array.from({ length: 64 }, (_, index) => index + 8))
  expect(history.at(-1)?.to.connectionId).toBe(at.a)
  expect(after).toMatchObject({ generation: 71, launched })
})

test('PR-A31 an empty history goes anywhere, one with sealed items only where it may be cut, and that is for good', async () => {
  await using world = await createWorld()
  await using at = await twoProviders(world)
  expect(await move(at.host, to(at.b))).toEqual({ kind: 'now', historyStripped: false })
  expect(await move(at.host, to(at.a))).toEqual({ kind: 'now', historyStripped: false })
  expect(await askModel(at.plan)).toBe(200)
  expect(await move(at.host, to(at.b))).toEqual({ kind: 'refused', code: 'route_binding_incompatible' })
  expect(await askModel(at.plan)).toBe(200)
  expect([at.one.requests.length, at.two.requests.length]).toEqual([2, 0])
  expect(await move(at.host, to(at.b, { allowHistoryStrip: true }))).toEqual({ kind: 'now', historyStripped: true })
  const history = JSON.parse(row(at.host)['history'] ?? '') as { degradation?: string }[]
  expect(history.at(-1)?.degradation).toBe('strip_opaque_provider_state')
  // Once cut, always cut: the way back needs no second consent and heals nothing.
  expect(await move(at.host, to(at.a))).toEqual({ kind: 'now', historyStripped: false })
  expect(JSON.parse(row(at.host)['binding'] ?? '')).toMatchObject({ historyPortability: 'strip' })
})

test('PR-A32 after that the sealed items that an agent sends again do not go up, and every other byte does', async () => {
  await using world = await createWorld()
  await using at = await twoProviders(world)
  expect(await askModel(at.plan)).toBe(200)
  await move(at.host, to(at.b, { allowHistoryStrip: true }))
  const kept = '{"type":"message", "role":"user"}'
  await fetch(`${addressIn(at.plan)}/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${routeKey(at.plan)}` },
    body: `{"model":"gpt-test" , "input":[{"type":"reasoning","encrypted_content":"x"},${kept}],"previous_response_id":"r"}`,
  })
  expect(at.two.requests.at(-1)?.body).toBe(`{"model":"gpt-test" , "input":[${kept}]}`)
})

test('PR-A33 with a request under way another domain waits for the next turn, the same domain moves at once', async () => {
  await using world = await createWorld()
  await using at = await twoProviders(world)
  const twin = await create(at.host.providers, customInput('twin', at.one.url))
  const finish = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  at.one.answer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': begun\n\n')
    begun.resolve()
    void finish.promise.then(() => response.end('event: response.completed\ndata: {}\n\n'))
  })
  const asked = askModel(at.plan)
  await begun.promise
  const change = { allowHistoryStrip: true }
  expect(await move(at.host, to(at.b, change))).toMatchObject({ kind: 'next_turn' })
  expect(row(at.host)['connection_id']).toBe(at.a)
  expect(await move(at.host, to(twin.id))).toMatchObject({ kind: 'now' })
  finish.resolve()
  expect(await asked).toBe(200)
  expect(at.two.requests).toEqual([])
})

test('PR-A34 a move whose transaction is taken back moves no route', async () => {
  await using world = await createWorld()
  await using at = await twoProviders(world)
  const before = row(at.host)
  const conflict = at.host.store.writeTx((tx) => {
    at.host.providers.changeRuntime(to(at.b), tx)
    throw new Error('somebody changed the session since')
  })
  await expect(conflict).rejects.toThrow('somebody changed')
  expect(row(at.host)).toEqual(before)
  expect(await askModel(at.plan)).toBe(200)
  expect([at.one.requests.length, at.two.requests.length]).toEqual([1, 0])
})

test('PR-A37 a route whose Provider was changed meanwhile is served as it was bound, and said once', async () => {
  await using world = await createWorld()
  await using at = await twoProviders(world)
  const { revision } = await at.host.providers.catalog()
  await at.host.providers.saveConnection(
    customInput('a', `${at.one.url}/elsewhere`, { id: at.a }),
    null,
    revision,
    'update',
  )
  const before = row(at.host)
  await at.host.stop()
  const next = await world.open()
  expect(next.providers.notices()).toEqual([
    { sessionId: 'session-1', workerId: 'worker-1', reason: 'contract_changed' },
  ])
  expect(row(next)).toEqual(before)
  expect(await askModel(at.plan)).toBe(200)
  expect(at.one.requests.map(({ url }) => url)).toEqual(['/v1/responses'])
  await next.providers.unbindWorker('worker-1', { kind: 'gone' })
  expect(next.providers.notices()).toEqual([])
})

test('PR-A38 with an open route a restart listens where the agent looks, without one nowhere', async () => {
  await using world = await createWorld()
  await using at = await twoProviders(world)
  await at.host.stop()
  const next = await world.open()
  expect(await askModel(at.plan)).toBe(200)
  await next.providers.unbindWorker('worker-1', { kind: 'gone' })
  await next.stop()
  await world.open()
  await expect(fetch(addressIn(at.plan))).rejects.toThrow('fetch failed')
})

test('PR-A39 a port that somebody else holds is not replaced by another while an agent looks there', async () => {
  await using world = await createWorld()
  await using at = await twoProviders(world)
  await at.host.stop()
  const squatter = createServer((socket) => void socket.destroy())
  const port = Number(new URL(addressIn(at.plan)).port)
  await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve))
  expect((squatter.address() as AddressInfo).port).toBe(port)
  try {
    const next = await world.open()
    const second = launch(at.a, { workerId: 'worker-2', sessionId: 'session-2' })
    expect(await codeOf(bind(next, second))).toBe('route_listener_failed')
    await next.providers.unbindWorker('worker-1', { kind: 'gone' })
    expect(await codeOf(bind(next, second))).toBe('none')
  } finally {
    await new Promise((resolve) => squatter.close(resolve))
  }
})

test('PR-A86 a first launch whose route is not written leaves nothing that could be asked', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', upstream.url))
  await host.providers.prepareWorker(launch(id), new AbortController().signal)
  const plans: RoutePlan[] = []
  const failed = host.store.writeTx((tx) => {
    const plan = host.providers.bindWorker(launch(id), tx)
    if (plan !== null) plans.push(plan)
    throw new Error('the disk is full')
  })
  await expect(failed).rejects.toThrow('the disk is full')
  const [plan] = plans
  if (plan === undefined) throw new Error('the launch is not routed')
  expect(host.store.db.prepare('SELECT worker_id FROM routes').pluck().all()).toEqual([])
  expect(host.providers.sessionRuntime('session-1')).toBeNull()
  expect(await askModel(plan)).toBe(400)
  expect(upstream.requests).toEqual([])
  await host.stop()
  await world.open()
  await expect(askModel(plan)).rejects.toThrow('fetch failed')
})
