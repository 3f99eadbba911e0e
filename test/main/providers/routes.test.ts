import { expect, test } from 'vitest'
import type { RoutePlan } from '../../../src/main/providers/index.ts'
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
  filesHolding,
  launch,
  routeKey,
} from './support.ts'
import { routeDigest } from '../../../src/main/providers/router/index.ts'

interface RouteRow {
  worker_id: string
  digest: string
  generation: number
  binding: string
  launched: string
}

function rows(store: { db: { prepare(sql: string): { all(): unknown[] } } }): RouteRow[] {
  return store.db.prepare('SELECT * FROM routes').all() as RouteRow[]
}

/** The status and error code of a request with that key. */
async function knock(port: number, key: string): Promise<{ status: number; code: string | null }> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  await answer.text()
  return { status: answer.status, code: answer.headers.get('x-wheelhouse-error') }
}

function portOf(plan: RoutePlan): number {
  return Number(new URL(addressIn(plan)).port)
}

test('PR-A28 binding a worker writes one row, generation 1, whose launched binding is the binding', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  const plan = await bind(host, launch(id))
  const [row, ...others] = rows(host.store)
  expect(others).toEqual([])
  expect(row).toMatchObject({ worker_id: 'worker-1', generation: 1, digest: routeDigest(routeKey(plan)) })
  expect(row?.launched).toBe(row?.binding)
  expect(await knock(portOf(plan), routeKey(plan))).toMatchObject({ status: 200 })
})

test('PR-A28 nothing is routed before the commit, and a transaction that rolls back leaves no route', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  const request = launch(id)
  await host.providers.prepareWorker(request, new AbortController().signal)
  let inside: ReturnType<typeof host.providers.bindWorker> = null
  const work = host.store.writeTx((tx) => {
    inside = host.providers.bindWorker(request, tx)
    expect(host.providers.sessionRuntime('session-1')).toBeNull()
    throw new Error('the caller gives up')
  })
  await expect(work).rejects.toThrow('the caller gives up')
  expect(inside).not.toBeNull()
  expect(rows(host.store)).toEqual([])
  expect(host.providers.sessionRuntime('session-1')).toBeNull()
})

test('PR-A29 a crash before the commit leaves no route, and the next start listens nowhere', async () => {
  await using world = await createWorld()
  const first = await world.open()
  const { id } = await create(first.providers, codexInput('a'))
  const request = launch(id)
  await first.providers.prepareWorker(request, new AbortController().signal)
  await first.stop()
  const host = await world.open()
  await host.providers.catalog()
  expect(rows(host.store)).toEqual([])
  const plan = host.store.writeTx((tx) => host.providers.bindWorker(request, tx))
  expect(await codeOf(plan)).toBe('route_listener_failed')
})

test('PR-A29 a route that was committed outlives a restart, on the same port', async () => {
  await using world = await createWorld()
  const first = await world.open()
  const { id } = await create(first.providers, codexInput('a'))
  const plan = await bind(first, launch(id))
  await first.stop()
  const host = await world.open()
  expect(await knock(portOf(plan), routeKey(plan))).toMatchObject({ status: 200 })
  expect(host.providers.sessionRuntime('session-1')).toMatchObject({ connectionId: id, modelId: 'gpt-test' })
})

test('PR-A62 a route stays until its worker is proven gone, and then a second release succeeds', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  const plan = await bind(host, launch(id))
  const forget = host.store.writeTx((tx) => host.providers.forgetSession('session-1', tx))
  expect(await codeOf(forget)).toBe('session_still_live')
  expect(await knock(portOf(plan), routeKey(plan))).toMatchObject({ status: 200 })
  expect(await host.providers.unbindWorker('worker-1', { kind: 'gone' })).toEqual({ applied: true, durable: true })
  expect((await knock(portOf(plan), routeKey(plan))).status).toBe(403)
  expect(await host.providers.unbindWorker('worker-1', { kind: 'gone' })).toEqual({ applied: true, durable: true })
})

test('PR-A62 a release that the database does not take keeps the route', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  const plan = await bind(host, launch(id))
  host.store.db.exec("CREATE TRIGGER keep BEFORE DELETE ON routes BEGIN SELECT RAISE(ABORT, 'kept'); END")
  expect(await host.providers.unbindWorker('worker-1', { kind: 'gone' })).toEqual({ applied: false, durable: false })
  expect(await knock(portOf(plan), routeKey(plan))).toMatchObject({ status: 200 })
})

test('a worker bound again gets another id, and the old one is dead', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  const before = await bind(host, launch(id))
  const after = await bind(host, launch(id))
  expect(routeKey(after)).not.toBe(routeKey(before))
  expect((await knock(portOf(after), routeKey(before))).status).toBe(403)
  expect(await knock(portOf(after), routeKey(after))).toMatchObject({ status: 200 })
  expect(rows(host.store)).toHaveLength(1)
})

test('a malformed row disables its session alone, until its worker is proven gone', async () => {
  await using world = await createWorld()
  const first = await world.open()
  const { id } = await create(first.providers, codexInput('a'))
  const plan = await bind(first, launch(id))
  await bind(first, launch(id, { workerId: 'worker-2', sessionId: 'session-2' }))
  first.store.db.exec("UPDATE routes SET binding = '{' WHERE worker_id = 'worker-2'")
  await first.stop()
  const host = await world.open()
  expect(host.providers.notices()).toEqual([{ workerId: 'worker-2', sessionId: 'session-2', reason: 'malformed' }])
  expect(host.providers.boundWorkers()).toEqual(['worker-1', 'worker-2'])
  expect(await knock(portOf(plan), routeKey(plan))).toMatchObject({ status: 200 })
  const again = launch(id, { workerId: 'worker-3', sessionId: 'session-2' })
  expect(await codeOf(bind(host, again))).toBe('route_snapshot_invalid')
  await host.providers.unbindWorker('worker-2', { kind: 'gone' })
  expect(host.providers.notices()).toEqual([])
  expect(await codeOf(bind(host, again))).toBe('none')
})

test('an answer of the Provider marks the history, which then refuses another Provider unless it may be cut', async () => {
  await using world = await createWorld()
  await using one = await createFakeUpstream()
  await using two = await createFakeUpstream()
  const host = await world.open()
  const a = await create(host.providers, customInput('a', one.url))
  const b = await create(host.providers, customInput('b', two.url))
  const plan = await bind(host, launch(a.id))
  const to = { connectionId: b.id, modelId: 'gpt-test', effort: 'default' as const }
  const change = { sessionId: 'session-1', client: 'codex' as const, choice: to, allowHistoryStrip: false }
  expect(host.providers.previewRuntime(change)).toEqual({ kind: 'now', historyStripped: false })
  expect(await askModel(plan)).toBe(200)
  expect(host.providers.previewRuntime(change)).toEqual({ kind: 'refused', code: 'route_binding_incompatible' })
  const allowed = { ...change, allowHistoryStrip: true }
  const effect = await host.store.writeTx((tx) => host.providers.changeRuntime(allowed, tx))
  expect(effect).toEqual({ kind: 'now', historyStripped: true })
  expect(host.providers.sessionRuntime('session-1')).toMatchObject({ connectionId: b.id, generation: 2 })
  expect(host.providers.lastExchange('session-1')).toMatchObject({
    connectionId: a.id,
    status: 200,
    origin: 'upstream',
  })
})

test('a Codex session that changes its model takes it at the next turn', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  await bind(host, launch(id))
  const choice = { connectionId: id, modelId: 'gpt-other', effort: 'high' as const }
  const change = { sessionId: 'session-1', client: 'codex' as const, choice, allowHistoryStrip: false }
  const effect = await host.store.writeTx((tx) => host.providers.changeRuntime(change, tx))
  expect(effect).toEqual({ kind: 'next_turn', historyStripped: false })
  expect(host.providers.sessionRuntime('session-1')).toMatchObject({ modelId: 'gpt-test', generation: 1 })
})

test("a session of the agent's own login has no row, and its history does not silently go to a Provider", async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  const own = launch(null)
  await host.providers.prepareWorker(own, new AbortController().signal)
  expect(await host.store.writeTx((tx) => host.providers.bindWorker(own, tx))).toBeNull()
  expect(rows(host.store)).toEqual([])
  expect(await codeOf(bind(host, launch(id)))).toBe('route_binding_incompatible')
})

test('a key is in no file, no view and no plan', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const { id, view } = await create(host.providers, customInput('a', upstream.url))
  const plan = await bind(host, launch(id))
  expect(await askModel(plan)).toBe(200)
  expect(upstream.requests.at(-1)?.authorization).toBe(`Bearer ${CANARY}`)
  const shown = JSON.stringify([view, await host.providers.catalog(), host.providers.sessionRuntime('session-1')])
  expect(shown).not.toContain(CANARY)
  expect(shown).not.toContain('provider:')
  const { argv, config, envSet, envUnset } = plan
  const handed = JSON.stringify({ argv, config, envSet, envUnset })
  expect(handed).not.toContain(CANARY)
  expect(handed).not.toContain(routeKey(plan))
  expect(() => JSON.stringify(plan)).toThrow(expect.objectContaining({ code: 'internal_not_wire' }))
  expect(JSON.stringify(world.log.entries)).not.toContain(CANARY)
  await host.stop()
  expect(filesHolding(world.dir.path, CANARY)).toEqual([])
  expect(filesHolding(world.dir.path, routeKey(plan))).toEqual([])
})
