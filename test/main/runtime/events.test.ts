import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clip, fitData, headAndTail, MAX_DATA_BYTES } from '../../../src/main/runtime/events/cut.ts'
import type { SubscriptionItem } from '../../../src/main/runtime/index.ts'
import { projectRun } from '../../../src/shared/projection/index.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'

describe('what is too long', () => {
  test('RT-A44 a tool result of 1 MiB fits its bound, and says how long it was', () => {
    const text = 'å€"\n'.repeat(130_000)
    const { data, text: json } = fitData({ toolCallId: 't1', content: [{ type: 'text', text }] })
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(MAX_DATA_BYTES)
    expect(data).toMatchObject({
      toolCallId: 't1',
      content: [{ type: 'text' }],
      cut: { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') },
    })
  })

  test('RT-A44 whatever the data, its JSON fits, holds no NUL and no half character, and says if it was cut', () => {
    const long = fc
      .string({ unit: 'binary', maxLength: 400 })
      .chain((part) => fc.integer({ min: 0, max: 900 }).map((times) => part.repeat(times)))
    const value = fc.oneof(long, fc.array(long, { maxLength: 4 }), fc.integer(), fc.constant('\ud800x\0'))
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'text'), value), (input) => {
        const { data, text } = fitData(input)
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_DATA_BYTES)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(data)))
        expect(text.isWellFormed()).toBe(true)
        expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/i)
        const fits = Buffer.byteLength(JSON.stringify(input)) <= MAX_DATA_BYTES
        expect(fits && 'cut' in data).toBe(false)
      }),
      { numRuns: 60 },
    )
  })

  test('a clipped text keeps whole characters and its bound', () => {
    const halved = '\ufffd'
    const whole = fc.string({ unit: 'grapheme', maxLength: 200 }).filter((text) => !text.includes(halved))
    fc.assert(
      fc.property(whole, fc.integer({ min: 8, max: 300 }), (text, limit) => {
        expect(Buffer.byteLength(clip(text, limit))).toBeLessThanOrEqual(limit)
        expect(clip(text, limit)).not.toContain(halved)
        expect(headAndTail(text, limit, limit / 4)).not.toContain(halved)
      }),
    )
  })
})

test('RT-A47 60 texts of 3 runs within 90 ms are one commit and 3 events; a tool brings its text along', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  for (const title of ['b', 'c']) {
    const { id } = await t.runtime.sessions.create({ agentId: 'claude', workDir: t.dir, createdVia: 'desktop', title })
    await t.submit({ sessionId: id })
  }
  await quiet()
  const before = t.commits()
  const count = (): number => t.rows(`SELECT 1 FROM run_events WHERE type = 'output_text'`).length
  for (let n = 0; n < 20; n++) {
    for (const run of t.executor.runs) run.text(`w${n} `)
    await t.clock.advance(4)
  }
  await t.clock.advance(20)
  expect(t.commits() - before).toBe(1)
  expect(count()).toBe(3)
  const [first] = t.executor.runs
  first?.text('and now')
  first?.sink.push({
    kind: 'tool',
    phase: 'started',
    toolCallId: 't1',
    tool: 'read',
    name: 'Read',
    title: 'a',
    status: 'in_progress',
    paths: [],
    content: [],
  })
  await quiet()
  expect(t.commits() - before).toBe(2)
  expect(t.types().slice(-2)).toEqual(['output_text', 'tool_started'])
})

test('RT-A43 a cursor ahead of the log, and one behind its floor, are told apart', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  const { id: sessionId } = t.session
  const { headSeq } = t.runtime.events.read({ sessionId, afterSeq: 0 })
  expect(() => t.runtime.events.read({ sessionId, afterSeq: headSeq + 1 })).toThrow(
    expect.objectContaining({ code: 'event_cursor_ahead' }),
  )
  t.store.db.exec('UPDATE sessions SET event_floor = 1')
  expect(() => t.runtime.events.read({ sessionId, afterSeq: 0 })).toThrow(
    expect.objectContaining({ code: 'event_cursor_expired', data: { floorSeq: 1 } }),
  )
  expect(t.runtime.events.read({ sessionId, afterSeq: 1 }).events).toHaveLength(1)
})

async function collect(
  items: AsyncIterable<SubscriptionItem>,
  enough: (seqs: readonly number[]) => boolean,
): Promise<{ seqs: number[]; resyncs: number }> {
  const seqs: number[] = []
  let resyncs = 0
  for await (const item of items) {
    if (item.kind === 'resync') resyncs++
    if (item.kind === 'events') seqs.push(...item.events.map(({ seq }) => seq))
    if (enough(seqs)) break
  }
  return { seqs, resyncs }
}

test('RT-A45 a subscriber that does not take its events is told once and served from the database', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  const { id: sessionId } = t.session
  const leave = new AbortController()
  const slow = t.runtime.events.subscribe({ sessionId, afterSeq: 0 }, leave.signal)[Symbol.asyncIterator]()
  const fast = collect(
    t.runtime.events.subscribe({ sessionId, afterSeq: 0 }, leave.signal),
    (seqs) => seqs.length >= 602,
  )
  await slow.next()
  const next = slow.next()
  for (let n = 0; n < 600; n++) {
    t.executor.last().sink.push({ kind: 'notice', code: 'n', message: String(n) })
    await quiet(1)
  }
  await t.clock.advance(200)
  await quiet()
  await next
  const rest = await collect({ [Symbol.asyncIterator]: () => slow }, (seqs) => seqs.at(-1) === 602)
  expect(rest.resyncs).toBe(1)
  expect(rest.seqs).toEqual(rest.seqs.toSorted((a, b) => a - b))
  expect(new Set(rest.seqs).size).toBe(rest.seqs.length)
  expect((await fast).seqs).toEqual(Array.from({ length: 602 }, (_, index) => index + 1))
  leave.abort()
})

test('a subscriber that resumes and one that replays see the same run', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  const leave = new AbortController()
  const { id: sessionId } = t.session
  const live = collect(t.runtime.events.subscribe({ sessionId, afterSeq: 0 }, leave.signal), (seqs) => seqs.length >= 4)
  t.executor.last().text('hello ')
  await t.clock.advance(100)
  t.executor.last().text('world')
  t.executor.last().end()
  await quiet()
  await live
  const events = t.events()
  const whole = projectRun(runId, events)
  expect(whole).toMatchObject({ state: 'completed', items: [{ kind: 'text', text: 'hello world' }] })
  expect((await t.runtime.runs.view(runId)).run).toEqual(whole)
  await quiet()
  expect((await t.runtime.runs.view(runId)).run).toEqual(whole)
  const snapshot = await t.runtime.sessions.snapshot({ sessionId })
  expect(snapshot).toMatchObject({ hasEarlier: false, headSeq: events.at(-1)?.seq, pending: [], draft: null })
  expect(snapshot.turns).toEqual([whole])
  leave.abort()
})

test('a long text becomes several events and loses nothing', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  const text = '😀'.repeat(50_000)
  t.executor.last().text(text)
  await t.clock.advance(100)
  expect((await t.runtime.runs.view(runId)).run.items).toMatchObject([{ kind: 'text', text }])
})

test('DT-A22 a message longer than any answer keeps its end, so that its session can be opened again', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  for (let part = 0; part < 12; part++) t.executor.last().text('\u0001😀'.repeat(50_000))
  t.executor.last().text('the end')
  await t.clock.advance(100)
  await quiet()
  const [turn] = (await t.runtime.sessions.snapshot({ sessionId: t.session.id })).turns
  expect(Buffer.byteLength(JSON.stringify(turn))).toBeLessThan(1_048_576)
  expect(turn?.items).toMatchObject([
    { kind: 'text', text: expect.stringMatching(/^\[\d+ earlier characters .*the end$/s) },
  ])
  expect(turn?.items[0]).toSatisfy((item: { text: string }) => item.text.isWellFormed())
  expect(Buffer.byteLength(JSON.stringify(await t.runtime.runs.view(runId)))).toBeLessThan(4_194_304)
})

test('a run that says more than can be saved is cancelled and fails', async () => {
  const { SqliteError } = await import('better-sqlite3')
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.failpoints.failAt('events.before_commit', {
    always: true,
    error: new SqliteError('disk I/O error', 'SQLITE_IOERR'),
  })
  for (let n = 0; n < 50; n++) t.executor.last().text('x'.repeat(100_000))
  await t.clock.advance(1_000)
  await quiet()
  expect(t.executor.last().cancels).toBe(1)
  expect(t.runtime.runs.get(runId)).toMatchObject({ state: 'failed', error: { code: 'event_backlog_full' } })
})
