import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FailoverRule, RoutePlan } from '../../../src/main/providers/index.ts'
import {
  addressIn,
  bind,
  codeOf,
  create,
  createFakeUpstream,
  createWorld,
  customInput,
  errorOf,
  launch,
  routeKey,
} from './support.ts'
import type { FakeUpstream, World } from './support.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const event = (name: string, data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`
const DELTA = event('response.output_text.delta', { delta: 'hi' })
const DONE = event('response.completed', {
  response: { id: 'r', model: 'm', usage: { input_tokens: 3, output_tokens: 2 } },
})
const ERROR = event('error', { code: 'server_error', message: 'it broke' })

const status =
  (code: number, body = '{"error":"x"}'): Answer =>
  (_request, response) =>
    void response.writeHead(code, { 'content-type': 'application/json' }).end(body)
const says =
  (...events: string[]): Answer =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''))
const cut: Answer = (request) => void request.socket.destroy()

/** A Provider's two accounts, the second of which stands in for the first where the rule says so. */
async function twoAccounts(
  world: World,
  first: FakeUpstream,
  second: FakeUpstream,
  rule: Partial<FailoverRule> | null,
) {
  const host = await world.open()
  const { providers } = host
  const own = await create(providers, customInput('own', first.url))
  const other = await create(providers, customInput('other', second.url))
  const { value } = await providers.setDefault(
    'codex',
    { connectionId: own.id, modelId: 'gpt-test' },
    other.view.revision,
  )
  const chain = [{ connectionId: other.id, modelId: 'model-b' }]
  if (rule !== null) {
    await providers.setFailover('codex', { chain, on429: false, allowHistoryStrip: false, ...rule }, value.revision)
  }
  return { host, providers, own: own.id, other: other.id, chain }
}

const BODY = '{ "input": [], "model": "gpt-test", "n": 1e400 }'

async function ask(plan: RoutePlan, body = BODY): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${addressIn(plan)}/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${routeKey(plan)}`, 'content-type': 'application/json' },
    body,
  })
  return { status: answer.status, text: await answer.text() }
}

/** A record is made after the last byte left. */
const LATER = { timeout: 10_000 }

let first: FakeUpstream
let second: FakeUpstream
beforeAll(async () => {
  first = await createFakeUpstream()
  second = await createFakeUpstream()
})
afterAll(async () => {
  await first[Symbol.asyncDispose]()
  await second[Symbol.asyncDispose]()
})

describe('with a rule', () => {
  test('PR-A63 each trigger goes to the next one with its own model, every other byte the same, and it is named', async () => {
    await using world = await createWorld()
    const { host, providers, own, other } = await twoAccounts(world, first, second, { on429: true })
    second.answer(says(DELTA, DONE))
    const triggers = [
      cut,
      status(500),
      status(502),
      status(503),
      status(504),
      status(529),
      status(429),
      says(ERROR, DONE),
    ]
    for (const [n, trigger] of triggers.entries()) {
      // A history that is empty: a new session for each.
      const plan = await bind(host, launch(own, { workerId: `worker-${n}`, sessionId: `session-${n}` }))
      first.answer(trigger)
      const answer = await ask(plan)
      expect([n, answer]).toEqual([n, { status: 200, text: DELTA + DONE }])
      expect(second.requests.at(-1)?.body).toBe(BODY.replace('gpt-test', 'model-b'))
      await expect
        .poll(() => providers.lastExchange(`session-${n}`), LATER)
        .toMatchObject({
          connectionId: other,
          modelSent: 'model-b',
          failover: true,
          status: 200,
        })
      // The Provider failed five times in a row by then; that it is skipped is another test's matter.
      await world.clock.advance(300_000)
    }
    expect(providers.sessionRuntime('session-0')).toMatchObject({ connectionId: own, generation: 1 })
    expect(providers.requests()[0]).toMatchObject({ connectionId: other, failoverIndex: 1 })
    expect(providers.requests()[0]?.flags).toContain('failover')
    await world.clock.advance(1_000)
    const row = (await providers.usage('connection', 30)).find(({ key }) => key === other)
    expect(row?.requests).toBe(1)
    expect(host.store.db.prepare('SELECT failover_index FROM model_requests').pluck().all()).toEqual([1])
  })

  test('PR-A63 an error after the first event passes, and so does every answer that is no trigger', async () => {
    await using world = await createWorld()
    const { host, own } = await twoAccounts(world, first, second, {})
    const plan = await bind(host, launch(own))
    const before = second.requests.length
    const answers: [Answer, { status: number; text: string }][] = [
      [says(DELTA, ERROR), { status: 200, text: DELTA + ERROR }],
      [
        says(event('error', { code: 'invalid_prompt' })),
        { status: 200, text: event('error', { code: 'invalid_prompt' }) },
      ],
      [says(`: ${'x'.repeat(20_000)}\n\n`, ERROR), { status: 200, text: `: ${'x'.repeat(20_000)}\n\n${ERROR}` }],
      ...[400, 403, 404, 413, 422, 429, 501].map((code): [Answer, { status: number; text: string }] => [
        status(code, '{"said":"so"}'),
        { status: code, text: '{"said":"so"}' },
      ]),
      // A dead key reaches Codex as 400.
      [status(401, '{"said":"so"}'), { status: 400, text: '{"said":"so"}' }],
    ]
    for (const [answer, expected] of answers) {
      first.answer(answer)
      expect(await ask(plan)).toEqual(expected)
    }
    expect(second.requests).toHaveLength(before)
  })

  test('where all failed the last answer passes as it is, each asked once', async () => {
    await using world = await createWorld()
    const { host, providers, own, other } = await twoAccounts(world, first, second, {})
    const plan = await bind(host, launch(own))
    first.answer(status(503, 'first'))
    second.answer(says(ERROR))
    const counts = [first.requests.length, second.requests.length]
    expect(await ask(plan)).toEqual({ status: 200, text: ERROR })
    expect([first.requests.length, second.requests.length]).toEqual(counts.map((count) => count + 1))
    await expect
      .poll(() => providers.lastExchange('session-1'), LATER)
      .toMatchObject({ connectionId: other, streamError: 'server_error' })
    // The last one does not even answer: the newest answer that there was passes.
    second.answer(cut)
    const next = await bind(host, launch(own, { workerId: 'worker-2', sessionId: 'session-2' }))
    expect(await ask(next)).toEqual({ status: 503, text: 'first' })
    await expect
      .poll(() => providers.lastExchange('session-2'), LATER)
      .toMatchObject({ connectionId: own, failover: false })
  })

  test('another history domain is passed over once there is a history, unless it may be cut: then it is, for good', async () => {
    await using world = await createWorld()
    const { host, providers, own, other, chain } = await twoAccounts(world, first, second, {})
    const plan = await bind(host, launch(own))
    const items = `{"input":[{"type":"reasoning","encrypted_content":"sealed"},{"type":"message","role":"user"}],"model":"gpt-test"}`
    first.answer(says(DONE))
    second.answer(says(DONE))
    expect((await ask(plan)).status).toBe(200)
    first.answer(status(503))
    expect((await ask(plan, items)).status).toBe(503)
    const { revision } = await providers.catalog()
    await providers.setFailover('codex', { chain, on429: false, allowHistoryStrip: true }, revision)
    expect((await ask(plan, items)).status).toBe(200)
    expect(second.requests.at(-1)?.body).toBe('{"input":[{"type":"message","role":"user"}],"model":"model-b"}')
    await expect.poll(() => providers.lastExchange('session-1'), LATER).toMatchObject({ connectionId: other })
    // The binding's own Provider is asked again, and cannot read what the other one left.
    first.answer(says(DONE))
    expect((await ask(plan, items)).status).toBe(200)
    expect(first.requests.at(-1)?.body).toBe('{"input":[{"type":"message","role":"user"}],"model":"gpt-test"}')
    expect(host.store.db.prepare('SELECT portability FROM session_marks').pluck().all()).toEqual(['strip'])
  })

  test('a run that wants none, and a session on another connection stay with their own Provider', async () => {
    await using world = await createWorld()
    const { host, providers, own, other } = await twoAccounts(world, first, second, {})
    first.answer(status(503))
    second.answer(says(DONE))
    const plan = await bind(host, launch(own, { failover: 'off' }))
    expect((await ask(plan)).status).toBe(503)
    providers.allowFailover('worker-1', true)
    expect((await ask(plan)).status).toBe(200)
    providers.allowFailover('worker-1', false)
    expect((await ask(plan)).status).toBe(503)
    second.answer(status(503))
    const elsewhere = await bind(host, launch(other, { workerId: 'worker-2', sessionId: 'session-2' }))
    const before = first.requests.length
    expect((await ask(elsewhere)).status).toBe(503)
    expect(first.requests).toHaveLength(before)
  })

  test('PR-A66 open connections are skipped, and a probe brings them back; all open is a 503 that says when', async () => {
    await using world = await createWorld()
    const { host, providers, own } = await twoAccounts(world, first, second, { allowHistoryStrip: true })
    const plan = await bind(host, launch(own))
    first.answer(status(500))
    second.answer(says(DONE))
    for (let n = 0; n < 5; n++) expect((await ask(plan)).status).toBe(200)
    const view = (await providers.catalog()).connections.find(({ id }) => id === own)
    expect(view?.breaker).toEqual({ state: 'open', untilMs: world.clock.nowMs() + 30_000 })
    const before = first.requests.length
    expect((await ask(plan)).status).toBe(200)
    expect(first.requests).toHaveLength(before)
    // The second fails too, and has to be asked, until it is open as well.
    second.answer(status(500))
    for (let n = 0; n < 5; n++) expect((await ask(plan)).status).toBe(500)
    const refused = await fetch(`${addressIn(plan)}/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${routeKey(plan)}` },
      body: BODY,
    })
    expect([refused.status, refused.headers.get('x-wheelhouse-error'), refused.headers.get('retry-after')]).toEqual([
      503,
      'upstream_circuit_open',
      '30',
    ])
    await world.clock.advance(30_000)
    first.answer(says(DONE))
    expect((await ask(plan)).status).toBe(200)
    const breaker = async () => (await providers.catalog()).connections.find(({ id }) => id === own)?.breaker
    await expect.poll(breaker, LATER).toBeUndefined()
  })
})

describe('without a rule', () => {
  test('PR-A66 five streams without their end open the breaker; the sixth still passes, and a test moves nothing', async () => {
    await using world = await createWorld()
    const { host, providers, own } = await twoAccounts(world, first, second, null)
    const plan = await bind(host, launch(own))
    const breaker = async () => (await providers.catalog()).connections.find(({ id }) => id === own)?.breaker?.state
    let changes = 0
    providers.onChange(() => changes++)
    first.answer(says(DELTA))
    for (let n = 0; n < 5; n++) {
      expect(await breaker()).toBeUndefined()
      expect((await ask(plan)).status).toBe(200)
    }
    await expect.poll(breaker, LATER).toBe('open')
    expect(changes).toBe(1)
    first.answer(status(200, '{"data":[]}'))
    await providers.testConnection({ savedId: own }, new AbortController().signal)
    expect(await breaker()).toBe('open')
    const before = second.requests.length
    first.answer(says(DELTA, DONE))
    expect(await ask(plan)).toEqual({ status: 200, text: DELTA + DONE })
    expect(second.requests).toHaveLength(before)
    await expect.poll(breaker, LATER).toBeUndefined()
    first.answer(cut)
    expect(await codeOf(providers.testConnection({ savedId: own }, new AbortController().signal))).toBe(
      'upstream_unreachable',
    )
    expect(await breaker()).toBeUndefined()
  })
})

describe('the rule', () => {
  const rule = (...chain: FailoverRule['chain'][number][]): FailoverRule => ({
    chain,
    on429: true,
    allowHistoryStrip: false,
  })

  test('is refused where it breaks a bound, and nothing changes', async () => {
    await using world = await createWorld()
    const { providers, own, other } = await twoAccounts(world, first, second, null)
    const claude = await create(providers, { name: 'c', client: 'claude', preset: 'anthropic' })
    const { revision } = await providers.catalog()
    const b = { connectionId: other, modelId: 'model-b' }
    const set = (of: FailoverRule, at = revision) => codeOf(providers.setFailover('codex', of, at))
    const five = Array.from({ length: 5 }, (_, n) => ({ connectionId: other, modelId: `m${n}` }))
    const before = world.catalogText()
    expect(await set(rule())).toBe('model_profile_invalid')
    expect(await set(rule(...five))).toBe('model_profile_invalid')
    expect(await set(rule(b, b))).toBe('model_profile_invalid')
    expect(await set(rule({ connectionId: own, modelId: 'gpt-test' }))).toBe('model_profile_invalid')
    expect(await set(rule({ connectionId: other, modelId: '../x' }))).toBe('model_profile_invalid')
    expect(await set(rule({ connectionId: 'gone', modelId: 'm' }))).toBe('model_profile_not_found')
    expect(await set(rule({ connectionId: claude.id, modelId: 'm' }))).toBe('model_profile_unsupported')
    expect(await set(rule(b), revision - 1)).toBe('model_profile_conflict')
    expect(
      await codeOf(providers.setFailover('claude', rule({ connectionId: claude.id, modelId: 'm' }), revision)),
    ).toBe('model_profile_invalid')
    expect(world.catalogText()).toBe(before)
    expect(await set(rule({ connectionId: own, modelId: 'another' }, b))).toBe('none')
  })

  test('PR-A14 counts as use of what it names, outlives a restart, and loses what becomes the default', async () => {
    await using world = await createWorld()
    const { host, providers, other, chain } = await twoAccounts(world, first, second, { on429: true })
    const { revision } = await providers.catalog()
    expect(await errorOf(providers.deleteConnection(other, revision))).toMatchObject({
      code: 'model_profile_in_use',
      detail: 'codex',
      data: { clients: [], chains: ['codex'], sessions: [] },
    })
    await host.stop()
    const next = await world.open()
    const kept = await next.providers.catalog()
    expect(kept.defaults.codex?.failover).toEqual({ chain, on429: true, allowHistoryStrip: false })
    const ownId = kept.defaults.codex?.connectionId ?? ''
    const longer = await next.providers.setFailover(
      'codex',
      rule(...chain, { connectionId: ownId, modelId: 'another' }),
      kept.revision,
    )
    const [moved] = chain
    const { value } = await next.providers.setDefault('codex', moved ?? null, longer.value.revision)
    expect(value.defaults.codex).toEqual({ ...moved, failover: rule({ connectionId: ownId, modelId: 'another' }) })
    const cleared = await next.providers.setFailover('codex', null, value.revision)
    expect(cleared.value.defaults.codex).toEqual(moved)
  })
})
