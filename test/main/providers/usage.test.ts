import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { UsageRow } from '../../../src/main/providers/index.ts'
import { bind, create, createFakeUpstream, createWorld, customInput, launch, addressIn, routeKey } from './support.ts'
import type { RoutePlan } from '../../../src/main/providers/index.ts'

const DAY_MS = 86_400_000

async function ask(plan: RoutePlan, model = 'gpt-test'): Promise<number> {
  const answer = await fetch(`${addressIn(plan)}/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${routeKey(plan)}` },
    body: JSON.stringify({ model, input: [] }),
  })
  await answer.text()
  return answer.status
}

/** Answers as OpenAI does, each response with an id of its own unless told otherwise. */
function answersWith(
  ids: string[],
  usage = '{"input_tokens":100,"input_tokens_details":{"cached_tokens":80},"output_tokens":7}',
) {
  return (_request: unknown, response: ServerResponse): void => {
    const id = ids.shift()
    if (id === undefined) return void response.writeHead(500).end('{}')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(
      `event: response.completed\ndata: {"type":"response.completed","response":{"id":"${id}","model":"gpt-billed","usage":${usage}}}\n\n`,
    )
  }
}

const sum = (rows: readonly UsageRow[], field: 'requests' | 'failed' | 'input' | 'cacheRead' | 'output'): number =>
  rows.reduce((total, row) => total + (row[field] ?? 0), 0)

test('PR-A64 each answer is one row, a response counted once, and every grouping adds up to the same', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', upstream.url))
  const first = await bind(host, launch(id))
  const second = await bind(host, launch(id, { workerId: 'worker-2', sessionId: 'session-2' }))
  upstream.answer(answersWith(['r1', 'r2', 'r2', 'r3']))
  for (const plan of [first, first, first, second]) expect(await ask(plan)).toBe(200)
  // The Provider fails: a request, and no tokens.
  expect(await ask(second)).toBe(500)
  const by = (group: 'day' | 'session' | 'connection' | 'model') => host.providers.usage(group, 30)
  expect(await by('session')).toEqual([
    {
      key: 'session-1',
      requests: 2,
      failed: 0,
      input: 40,
      cacheRead: 160,
      cacheWrite: null,
      output: 14,
      reasoning: null,
      firstByteMs: expect.any(Number),
      totalMs: expect.any(Number),
    },
    {
      key: 'session-2',
      requests: 2,
      failed: 1,
      input: 20,
      cacheRead: 80,
      cacheWrite: null,
      output: 7,
      reasoning: null,
      firstByteMs: expect.any(Number),
      totalMs: expect.any(Number),
    },
  ])
  expect((await by('model')).map(({ key, requests }) => [key, requests])).toEqual([
    ['gpt-billed', 3],
    ['gpt-test', 1],
  ])
  expect((await by('connection')).map(({ key }) => key)).toEqual([id])
  for (const group of ['day', 'session', 'connection', 'model'] as const) {
    const rows = await by(group)
    expect([group, sum(rows, 'requests'), sum(rows, 'failed'), sum(rows, 'input'), sum(rows, 'output')]).toEqual([
      group,
      4,
      1,
      60,
      21,
    ])
  }
})

test('what the Router refused itself is not counted, and what waits is written at the stop', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', upstream.url))
  const plan = await bind(host, launch(id))
  upstream.answer(answersWith(['r1']))
  await fetch(`${addressIn(plan)}/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${routeKey(plan)}` },
    body: '[]',
  })
  expect(await ask(plan)).toBe(200)
  await host.stop()
  const next = await world.open()
  expect(await next.providers.usage('day', 30)).toMatchObject([{ requests: 1, input: 20 }])
})

test('what the disk does not take is counted once it does', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', upstream.url))
  const plan = await bind(host, launch(id))
  upstream.answer(answersWith(['r1', 'r2', 'r2']))
  host.store.db.exec("CREATE TRIGGER full BEFORE INSERT ON model_requests BEGIN SELECT RAISE(ABORT, 'full'); END")
  for (const _ of ['r1', 'r2']) expect(await ask(plan)).toBe(200)
  expect(await host.providers.usage('day', 30)).toEqual([])
  host.store.db.exec('DROP TRIGGER full')
  expect(await ask(plan)).toBe(200)
  expect(await host.providers.usage('day', 30)).toMatchObject([{ requests: 2, input: 40 }])
})

test('after 90 days single requests become totals of their day, and add up as before', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', upstream.url))
  const plan = await bind(host, launch(id))
  upstream.answer(answersWith(['r1', 'r2']))
  for (let n = 0; n < 2; n++) expect(await ask(plan)).toBe(200)
  const before = await host.providers.usage('session', 366)
  await host.stop()
  await world.clock.advance(91 * DAY_MS)
  const next = await world.open()
  const rows = (): unknown[] => next.store.db.prepare('SELECT requests, input FROM model_request_days').all()
  await expect.poll(rows, { timeout: 10_000 }).toEqual([{ requests: 2, input: 40 }])
  expect(next.store.db.prepare('SELECT count(*) FROM model_requests').pluck().get()).toBe(0)
  expect(await next.providers.usage('session', 366)).toEqual(before)
  expect(await next.providers.usage('session', 30)).toEqual([])
})
