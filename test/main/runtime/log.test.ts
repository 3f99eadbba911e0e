import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Admission, RunReplay, SubscriptionItem } from '../../../src/main/runtime/index.ts'
import { AppError } from '../../../src/shared/errors.ts'
import type { SessionEvent } from '../../../src/shared/events.ts'
import { projectRun } from '../../../src/shared/projection/index.ts'
import { createTempDir } from '../../support/dir.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime } from './support/runtime.ts'
import { createSharedDatabase, startProcess } from './support/workers.ts'

const MANY = 100_000
const diskError = () => new Sqlite.SqliteError('disk I/O error', 'SQLITE_IOERR')

/** All events of a session after `afterSeq`, as a subscriber gets them, up to the number `last`. */
async function subscribe(t: TestRuntime, afterSeq: number, last: number): Promise<SessionEvent[]> {
  const leave = new AbortController()
  const got: SessionEvent[] = []
  for await (const item of t.runtime.events.subscribe({ sessionId: t.session.id, afterSeq }, leave.signal)) {
    if (item.kind === 'events') for (const event of item.events) got.push(event)
    if ((got.at(-1)?.seq ?? 0) >= last) leave.abort()
  }
  return got
}

test(
  'RT-A41 pages, a subscription from the start and one resumed in the middle are the same log and the same view',
  { timeout: 90_000 },
  async () => {
    await using t = await createTestRuntime()
    const sessionId = t.session.id
    const { runId } = await t.submit()
    await quiet()
    const { headSeq } = t.runtime.sessions.get(sessionId)
    t.store.db.exec(`
      WITH RECURSIVE n(i) AS (SELECT ${headSeq} + 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})
      INSERT INTO run_events (session_id, seq, run_id, type, at, data)
      SELECT '${sessionId}', i, '${runId}', 'output_text', i, json_object('messageId', 'm' || (i / 1000), 'text', 'word ' || i) FROM n;
      UPDATE sessions SET last_event_seq = ${MANY} WHERE id = '${sessionId}'`)
    const pages: SessionEvent[] = []
    for (let more = true; more;) {
      const page = t.runtime.events.read({ sessionId, afterSeq: pages.at(-1)?.seq ?? 0, limit: 1_000 })
      for (const event of page.events) pages.push(event)
      more = page.hasMore
    }
    expect(pages).toHaveLength(MANY)
    expect(pages.every(({ seq }, index) => seq === index + 1)).toBe(true)
    const whole = await subscribe(t, 0, MANY)
    const resumed = [...pages.slice(0, 61_803), ...(await subscribe(t, 61_803, MANY))]
    const text = JSON.stringify(pages)
    expect(JSON.stringify(whole) === text).toBe(true)
    expect(JSON.stringify(resumed) === text).toBe(true)
    expect(projectRun(runId, resumed)).toEqual(projectRun(runId, pages))
  },
)

test(
  'RT-A42 a subscriber of a log that grows fast misses nothing and gets nothing twice',
  { timeout: 90_000 },
  async () => {
    await using t = await createTestRuntime()
    const sessionId = t.session.id
    await t.submit()
    await quiet()
    const leave = new AbortController()
    const seqs: number[] = []
    const kinds = new Set<SubscriptionItem['kind']>()
    const watching = (async () => {
      for await (const item of t.runtime.events.subscribe({ sessionId, afterSeq: 0 }, leave.signal)) {
        kinds.add(item.kind)
        if (item.kind === 'events') for (const { seq } of item.events) seqs.push(seq)
      }
    })()
    // 5,000 events in each of ten seconds.
    for (let batch = 0; batch < 500; batch++) {
      for (let n = 0; n < 100; n++) {
        t.executor.last().sink.push({ kind: 'notice', code: 'tick', message: `${batch}.${n}` })
      }
      await t.clock.advance(20)
    }
    await t.clock.advance(1_000)
    const { headSeq } = t.runtime.sessions.get(sessionId)
    while ((seqs.at(-1) ?? 0) < headSeq) await quiet()
    leave.abort()
    await watching
    expect(headSeq).toBeGreaterThan(50_000)
    expect(seqs).toHaveLength(headSeq)
    expect(seqs.every((seq, index) => seq === index + 1)).toBe(true)
    expect(kinds).toContain('events')
  },
)

test('RT-A77 a wait of another instance ends once, 400 ms after an end that could not be written for 11 s', async () => {
  using dir = createTempDir()
  await using here = await createTestRuntime({ dir: dir.path })
  await using there = await createTestRuntime({ dir: dir.path, namespace: 1 })
  const { runId } = await there.submit()
  await quiet()
  const ends: unknown[] = []
  const waiting = here.runtime.runs.wait({ runId }).then((end) => ends.push(end))
  there.failpoints.failAt('terminal.before_commit', { always: true, error: diskError() })
  there.executor.last().end()
  for (let second = 0; second < 11; second++) {
    await there.clock.advance(1_000)
    await here.clock.advance(1_000)
  }
  expect(ends).toEqual([])
  there.failpoints.failAt('terminal.before_commit', { error: diskError() })
  await there.clock.advance(1_000)
  expect(there.runtime.runs.get(runId).state).toBe('completed')
  await here.clock.advance(400)
  await waiting
  expect(ends).toMatchObject([{ terminal: true, run: { state: 'completed' } }])
})

test(
  'RT-A77 a wait for a run whose owner was killed ends with what recovery made of it',
  { timeout: 90_000 },
  async () => {
    using db = createSharedDatabase()
    await using owner = await startProcess(db.dir)
    await using other = await startProcess(db.dir)
    const sessionId = await owner.call<string>('create')
    const { runId } = await owner.call<Admission>('submit', { sessionId })
    await db.until(`SELECT id FROM runs WHERE state = 'running'`)
    const waiting = other.call('wait', { runId })
    await owner.kill()
    await other.call('scan')
    await expect(waiting).resolves.toMatchObject({
      terminal: true,
      run: { state: 'failed', error: { code: 'owner_lost' } },
    })
  },
)

test('RT-A87 an optional MCP server that does not start is told, and the run goes on', async () => {
  await using t = await createTestRuntime({
    deps: { resources: { resolve: async () => ({ skills: [], mcpServers: ['a', 'b'], mcpRequired: ['b'] }) } },
  })
  const { runId } = await t.submit()
  await quiet()
  expect(t.executor.last().spec.policy).toMatchObject({ mcpServers: ['a', 'b'], mcpRequired: ['b'] })
  t.executor.last().sink.push({ kind: 'notice', code: 'mcp_server_unavailable', message: 'a did not start.' })
  t.executor.last().end()
  await quiet()
  expect(t.runtime.runs.get(runId).state).toBe('completed')
  expect((await t.runtime.runs.view(runId)).run.items).toMatchObject([
    { kind: 'notice', code: 'mcp_server_unavailable' },
  ])
})

test('RT-A87 a required MCP server that does not start fails the run', async () => {
  await using t = await createTestRuntime({
    onStart() {
      throw new AppError('mcp_server_unavailable', 'b did not start.')
    },
  })
  const { runId } = await t.submit()
  await quiet()
  expect(t.runtime.runs.get(runId)).toMatchObject({
    state: 'failed',
    error: { code: 'mcp_server_unavailable', failureClass: 'tool', retryMode: 'user' },
  })
})

test(
  'RT-A89 two processes show one run by the same bytes, with an event of a newer build inside',
  { timeout: 90_000 },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir)
    await using second = await startProcess(db.dir)
    const sessionId = await first.call<string>('create')
    const { runId } = await first.call<Admission>('submit', { sessionId })
    await db.until(`SELECT id FROM runs WHERE state = 'running'`)
    await first.call('text')
    await db.until(`SELECT seq FROM run_events WHERE type = 'output_text'`)
    const writer = new Sqlite(`${db.dir}/wheelhouse.db`, { timeout: 5_000 })
    writer.exec(`
    BEGIN IMMEDIATE;
    UPDATE sessions SET last_event_seq = last_event_seq + 1;
    INSERT INTO run_events (session_id, seq, run_id, type, at, data)
      SELECT id, last_event_seq, '${runId}', 'of_a_newer_build', 1, '{"x":1}' FROM sessions;
    COMMIT`)
    writer.close()
    await first.call('end')
    await first.call('wait', { runId })
    await expect(second.call('view', { runId })).resolves.toBe(await first.call<string>('view', { runId }))
    const replay = await second.call<RunReplay>('replay', { runId })
    expect(replay).toMatchObject({ sessionId, runId, state: 'completed', terminal: true })
    expect(replay.events.find(({ type }) => type === 'of_a_newer_build')).toMatchObject({ data: { x: 1 } })
  },
)

test('RT-A90 each scan that a busy database fails is told to the host, and the next one converges', async () => {
  let busy = 2
  using dir = createTempDir()
  await using there = await createTestRuntime({ dir: dir.path, namespace: 1 })
  await using here = await createTestRuntime({
    dir: dir.path,
    quiesce() {
      if (busy-- > 0) throw new AppError('database_busy', 'Another process is writing.')
      return 'absent'
    },
  })
  const { runId } = await there.submit()
  await quiet()
  await here.clock.advance(15_001)
  const told: unknown[] = []
  using _watching = here.runtime.changes.subscribe((change) => {
    if (change.kind === 'scan') told.push(change.error ?? change.outcome)
  })
  await expect(here.runtime.start().firstScan).rejects.toMatchObject({ code: 'database_busy' })
  // The clock was moved on before the start, which looks like a sleep.
  await here.clock.advance(30_000)
  expect(told.slice(0, 3)).toEqual(['database_busy', 'database_busy', { failed: 1, finished: 0, kept: 0, skipped: 0 }])
  expect(here.runtime.runs.get(runId)).toMatchObject({ state: 'failed', error: { code: 'owner_lost' } })
})
