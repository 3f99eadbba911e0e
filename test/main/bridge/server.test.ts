import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBridgeServer } from '../../../src/main/bridge/server.ts'
import { createStateTopic } from '../../../src/main/bridge/state-topic.ts'
import type { Handlers, TopicSources } from '../../../src/main/bridge/types.ts'
import { WIRE_LIMITS } from '../../../src/shared/bridge/index.ts'
import type { SessionEvent } from '../../../src/shared/events.ts'
import { AppError } from '../../../src/shared/errors.ts'
import { createFakeClock } from '../../support/clock.ts'
import { framePair } from '../../support/frames.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createMemoryLog } from '../../support/log.ts'

const sessionId = '01900000-0000-7000-8000-000000000001'

function serve(
  options: { handlers?: Partial<Handlers>; sources?: Partial<TopicSources>; highWaterBytes?: number } = {},
) {
  const clock = createFakeClock(1_000)
  const log = createMemoryLog()
  const server = createBridgeServer({
    clock,
    ids: createFakeIds(),
    log,
    // A test brings what it calls; the rest is unreachable.
    handlers: (options.handlers ?? {}) as Handlers,
    sources: (options.sources ?? {}) as TopicSources,
    app: { version: '1.0.0', installation: 'test', capabilities: [] },
  })
  const pair = framePair(options)
  const info = server.attach(pair.host, 'browser')
  return { server, clock, log, info, client: pair.client }
}

const answer = (id: number) => (frame: Record<string, unknown>) => frame['id'] === id && 'ok' in frame
const event = (seq: number): SessionEvent => ({
  sessionId,
  seq,
  runId: null,
  type: 'notice',
  state: null,
  at: 1,
  data: { code: 'x', message: 'y'.repeat(1_000) },
})

test('the first frame is a hello with a generation of its own', () => {
  const one = serve()
  expect(one.client.frames[0]).toMatchObject({ hello: { protocol: 1, app: '1.0.0', generation: one.info.generation } })
})

test('a call is parsed, handled and answered', async () => {
  const { client } = serve({
    handlers: {
      'workers.settle': ({ workerId }) => (workerId === 'w1' ? { settled: true } : Promise.reject(new Error('no'))),
    },
  })
  client.send({ id: 7, call: 'workers.settle', input: { workerId: 'w1' } })
  expect(await client.next(answer(7))).toEqual({ id: 7, ok: true, output: { settled: true } })
})

test('bad input is refused by field and code, and never repeats the value', async () => {
  const { client } = serve()
  client.send({
    id: 1,
    call: 'providers.upsert',
    input: { connection: { name: 'x' }, key: 12_345, expectedRevision: 0 },
  })
  const frame = await client.next(answer(1))
  expect(frame).toMatchObject({ ok: false, error: { code: 'input_invalid' } })
  expect(JSON.stringify(frame)).not.toContain('12345')
})

test('an unexpected error crosses as `internal`, and its text stays in the log', async () => {
  const { client, log } = serve({
    handlers: {
      'workers.list': () => {
        throw new Error('secret path /x')
      },
    },
  })
  client.send({ id: 1, call: 'workers.list', input: {} })
  const frame = await client.next(answer(1))
  expect(frame).toMatchObject({ ok: false, error: { code: 'internal' } })
  expect(JSON.stringify(frame)).not.toContain('/x')
  expect(log.entries.some((entry) => entry.message === 'a bridge procedure failed')).toBe(true)
})

test('an answer that breaks the contract does not leave the host', async () => {
  const { client } = serve({ handlers: { 'workers.list': () => ({ workers: [{ workerId: 1 }] }) as never } })
  client.send({ id: 1, call: 'workers.list', input: {} })
  expect(await client.next(answer(1))).toMatchObject({ ok: false, error: { code: 'output_invalid' } })
})

test('a call past its deadline is aborted and answered deadline_exceeded', async () => {
  let aborted = false
  const { client, clock } = serve({
    handlers: {
      'workers.list': (_input, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            aborted = true
          })
        }),
    },
  })
  client.send({ id: 1, call: 'workers.list', input: {} })
  await clock.advance(30_000)
  expect(await client.next(answer(1))).toMatchObject({ ok: false, error: { code: 'deadline_exceeded' } })
  expect(aborted).toBe(true)
})

test('a cancelled call is answered aborted; a closed connection aborts what is under way', async () => {
  const reasons: unknown[] = []
  const { client } = serve({
    handlers: {
      'workers.list': (_input, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => reasons.push(signal.reason))
        }),
    },
  })
  client.send({ id: 1, call: 'workers.list', input: {} })
  client.send({ id: 1, cancel: true })
  expect(await client.next(answer(1))).toMatchObject({ ok: false, error: { code: 'aborted' } })
  client.send({ id: 2, call: 'workers.list', input: {} })
  await Promise.resolve()
  client.close()
  expect(reasons).toHaveLength(2)
})

test('the 65th call in flight is refused, the 64 go on', async () => {
  const { client } = serve({ handlers: { 'workers.list': () => new Promise(() => {}) } })
  for (let id = 1; id <= 65; id++) client.send({ id, call: 'workers.list', input: {} })
  expect(await client.next(answer(65))).toMatchObject({ ok: false, error: { code: 'too_many_calls' } })
  expect(client.frames.filter((frame) => 'ok' in frame)).toHaveLength(1)
})

test('an unknown procedure and an unknown topic are typed errors', async () => {
  const { client } = serve()
  client.send({ id: 1, call: 'constructor', input: {} })
  client.send({ id: 2, sub: '__proto__', filter: {} })
  expect(await client.next(answer(1))).toMatchObject({ error: { code: 'procedure_unknown' } })
  expect(await client.next((frame) => frame['id'] === 2)).toMatchObject({
    end: 'error',
    error: { code: 'topic_unknown' },
  })
})

test('DT-A24 twenty bad frames in a row close the connection; a good one between starts the count again', async () => {
  const { client } = serve({ handlers: { 'workers.list': () => ({ workers: [] }) } })
  for (let n = 0; n < 19; n++) client.send({ nonsense: n })
  client.send({ id: 1, call: 'workers.list', input: {} })
  await client.next(answer(1))
  for (let n = 0; n < 19; n++) client.send([n])
  expect(client.closed()).toBe(false)
  client.send(null)
  expect(client.closed()).toBe(true)
})

test('DT-A24 no frame whatever throws out of the server, and each call is answered', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const { client } = serve()
      client.send(value)
      client.send({ id: 3, call: 'workers.settle', input: value })
      client.send({ id: 4, sub: 'sessions', filter: value })
    }),
    { numRuns: 300 },
  )
  expect(true).toBe(true)
})

test('DT-A26 a subscriber that never reads is ended `lagged` under 2 MiB, and resumes whole', async () => {
  const served: number[] = []
  const { client, clock } = serve({
    sources: {
      'session.events': async function* (_filter, { after = 0, signal }) {
        for (let seq = after + 1; seq <= 2_000 && !signal.aborted; seq++) {
          served.push(seq)
          yield event(seq)
        }
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      },
    },
  })
  client.gate(false)
  client.send({ id: 1, sub: 'session.events', filter: { sessionId }, after: 0 })
  await clock.advance(1)
  const pulled = served.length
  expect(pulled * 1_100).toBeLessThan(2 * 1_048_576)
  expect(pulled).toBeLessThan(2_000)
  await clock.advance(WIRE_LIMITS.laggedAfterMs)
  client.gate(true)
  await client.next((frame) => frame['end'] === 'lagged')
  const seen = client.frames.filter((frame) => 'event' in frame).map((frame) => (frame['event'] as SessionEvent).seq)
  client.send({ id: 2, sub: 'session.events', filter: { sessionId }, after: seen.at(-1) ?? 0 })
  await client.next((frame) => frame['id'] === 2 && (frame['event'] as SessionEvent | undefined)?.seq === 2_000)
  const all = client.frames.filter((frame) => 'event' in frame).map((frame) => (frame['event'] as SessionEvent).seq)
  expect(all).toEqual(Array.from({ length: 2_000 }, (_, index) => index + 1))
})

test('stop ends the topics with `stopping` and refuses new calls', async () => {
  const topic = createStateTopic(() => ({ values: {} }))
  const { client, server } = serve({ sources: { settings: (_filter, { signal }) => topic.open(signal) } })
  client.send({ id: 1, sub: 'settings', filter: {} })
  await client.next((frame) => frame['id'] === 1 && 'event' in frame)
  server.stop()
  expect(await client.next((frame) => 'end' in frame)).toEqual({ id: 1, end: 'stopping' })
  client.send({ id: 2, call: 'workers.list', input: {} })
  expect(await client.next(answer(2))).toMatchObject({ error: { code: 'host_stopping' } })
})

test('a state topic begins with the whole, then brings changes, and starts again whole for who fell behind', async () => {
  let total = 0
  const topic = createStateTopic<{ whole?: number; change?: number }>(() => ({ whole: total }))
  const abort = new AbortController()
  const stream = topic.open(abort.signal)[Symbol.asyncIterator]()
  expect((await stream.next()).value).toEqual({ whole: 0 })
  total = 1
  topic.publish({ change: 1 })
  expect((await stream.next()).value).toEqual({ change: 1 })
  for (total = 2; total <= 400; total++) topic.publish({ change: total })
  expect((await stream.next()).value).toEqual({ whole: 401 })
  abort.abort()
  expect((await stream.next()).done).toBe(true)
  expect(topic.subscribers()).toBe(0)
})

test('an error of ours crosses with its code, detail and data', async () => {
  const { client } = serve({
    handlers: {
      'sessions.get': () => {
        throw new AppError('idempotency_conflict', 'Used before.', { detail: 'r1', data: { runId: 'r1' } })
      },
    },
  })
  client.send({ id: 1, call: 'sessions.get', input: { sessionId } })
  expect(await client.next(answer(1))).toEqual({
    id: 1,
    ok: false,
    error: {
      code: 'idempotency_conflict',
      message: 'Used before.',
      detail: 'r1',
      data: { runId: 'r1' },
      retryable: false,
    },
  })
})

test('DT-A24 an answer is measured in bytes, not in letters: what no wire carries is refused', async () => {
  const { client } = serve({
    handlers: { 'system.logs.tail': () => ({ lines: ['漢'.repeat(WIRE_LIMITS.outputBytes / 2)] }) },
  })
  client.send({ id: 1, call: 'system.logs.tail', input: { lines: 1 } })
  expect(await client.next(answer(1))).toMatchObject({ ok: false, error: { code: 'frame_too_large' } })
})

test('DT-A26 a client that asks on without ever reading is hung up on', async () => {
  const { client } = serve({
    handlers: { 'system.logs.tail': () => ({ lines: ['x'.repeat(WIRE_LIMITS.outputBytes / 2)] }) },
  })
  client.gate(false)
  const most = Math.ceil(WIRE_LIMITS.unreadBytes / (WIRE_LIMITS.outputBytes / 2)) + 1
  for (let id = 1; id <= most; id++) client.send({ id, call: 'system.logs.tail', input: { lines: 1 } })
  await expect.poll(() => client.closed()).toBe(true)
})
