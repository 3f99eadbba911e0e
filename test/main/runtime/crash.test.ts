import { expect, test } from 'vitest'
import type { Admission, Inspection, ScanOutcome } from '../../../src/main/runtime/index.ts'
import { createSharedDatabase, startProcess } from './support/workers.ts'
import type { RuntimeProcess, SharedDatabase } from './support/workers.ts'

const ROUNDS = 5
const GENEROUS_MS = 90_000

const RUNNING = `SELECT id FROM runs WHERE state = 'running'`
const seqs = (db: SharedDatabase): number[] =>
  db.rows<{ seq: number }>('SELECT seq FROM run_events ORDER BY seq').map(({ seq }) => seq)
const gapless = (db: SharedDatabase): boolean => seqs(db).every((seq, index) => seq === index + 1)

async function begin(process: RuntimeProcess, db: SharedDatabase): Promise<{ sessionId: string; runId: string }> {
  const sessionId = await process.call<string>('create')
  const { runId } = await process.call<Admission>('submit', { sessionId, key: 'k' })
  await db.until(RUNNING)
  return { sessionId, runId }
}

test(
  'RT-A26 a crash before the admission is committed leaves no trace, and the key admits afresh',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir, { killAt: { name: 'admit.before_commit', times: 1 } })
    const sessionId = await first.call<string>('create')
    await expect(first.call('submit', { sessionId, key: 'k' })).rejects.toThrow('died')
    for (const table of ['intents', 'runs', 'turns', 'entries', 'run_events', 'submissions', 'leases']) {
      expect(db.rows(`SELECT 1 FROM ${table}`)).toEqual([])
    }
    await using second = await startProcess(db.dir)
    await expect(second.call('submit', { sessionId, key: 'k' })).resolves.toMatchObject({ replayed: false })
  },
)

test(
  'RT-A27 a crash right after the admission is a lost run without effects, and the key answers it',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir, { killAt: { name: 'admit.after_commit', times: 1 } })
    const sessionId = await first.call<string>('create')
    await expect(first.call('submit', { sessionId, key: 'k' })).rejects.toThrow('died')
    await using second = await startProcess(db.dir)
    await expect(second.call<ScanOutcome>('scan')).resolves.toMatchObject({ failed: 1 })
    const [run] = db.rows<{ id: string; error: string }>('SELECT id, state, side_effects, error FROM runs')
    expect(run).toMatchObject({ state: 'failed', side_effects: 'none' })
    expect(JSON.parse(run?.error ?? '')).toMatchObject({ code: 'owner_lost', retryMode: 'user' })
    expect(db.rows('SELECT status FROM turns')).toEqual([{ status: 'failed' }])
    await expect(second.call('submit', { sessionId, key: 'k' })).resolves.toMatchObject({
      runId: run?.id,
      replayed: true,
      state: 'failed',
    })
  },
)

test(
  'RT-A28 a crash in the middle of the stream keeps what was committed, without a gap',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir, { killAt: { name: 'events.before_commit', times: 2 } })
    await begin(first, db)
    await first.call('text', { text: 'kept' })
    await db.until(`SELECT 1 FROM run_events WHERE type = 'output_text'`)
    await first.call('text', { text: 'lost' }).catch(() => undefined)
    await first.died
    await using second = await startProcess(db.dir)
    await second.call('scan')
    const texts = db.rows<{ data: string }>(`SELECT data FROM run_events WHERE type = 'output_text'`)
    expect(texts.map(({ data }) => JSON.parse(data))).toEqual([{ messageId: 'm1', text: 'kept' }])
    expect(gapless(db)).toBe(true)
    const [run] = db.rows<{ error: string }>('SELECT state, partial_output, error FROM runs')
    expect(run).toMatchObject({ state: 'failed', partial_output: 1 })
    expect(JSON.parse(run?.error ?? '')).toMatchObject({ code: 'owner_lost', retryMode: 'decision_required' })
  },
)

test('RT-A29 a crash before the end is kept is a lost run', { timeout: GENEROUS_MS }, async () => {
  using db = createSharedDatabase()
  await using first = await startProcess(db.dir, { endWork: true, killAt: { name: 'prepare.before_commit', times: 1 } })
  await begin(first, db)
  await first.call('end').catch(() => undefined)
  await first.died
  await using second = await startProcess(db.dir)
  await expect(second.call('scan')).resolves.toMatchObject({ failed: 1 })
  expect(db.rows('SELECT state FROM runs')).toEqual([{ state: 'failed' }])
})

test('RT-A30 a crash after the end was kept is the end that was kept', { timeout: GENEROUS_MS }, async () => {
  using db = createSharedDatabase()
  await using first = await startProcess(db.dir, { endWork: true, killAt: { name: 'prepare.after_commit', times: 1 } })
  await begin(first, db)
  await first.call('text', { text: 'done' })
  await first.call('end').catch(() => undefined)
  await first.died
  expect(db.rows('SELECT state FROM runs')).toEqual([{ state: 'terminalizing' }])
  await using second = await startProcess(db.dir)
  await expect(second.call('scan')).resolves.toMatchObject({ finished: 1 })
  expect(db.rows('SELECT state FROM runs')).toEqual([{ state: 'completed' }])
  expect(db.rows(`SELECT state FROM run_events WHERE type = 'run_recovered'`)).toEqual([{ state: 'completed' }])
  expect(db.rows(`SELECT json_extract(body, '$.text') AS text FROM entries WHERE kind = 'assistant'`)).toEqual([
    { text: 'done' },
  ])
})

const TERMINAL = [
  ['RT-A32', 'terminal.after_run_row'],
  ['RT-A33', 'terminal.after_entry'],
  ['RT-A34', 'terminal.after_decisions'],
  ['RT-A35', 'terminal.after_turn'],
  ['RT-A37', 'terminal.after_event'],
  ['RT-A38', 'terminal.before_commit'],
] as const

test.each(TERMINAL)(
  '%s a crash at %s shows nothing of the end before recovery, and the kept end once after it',
  { timeout: GENEROUS_MS },
  async (_id, name) => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir, { endWork: true, killAt: { name, times: 1 } })
    const { sessionId } = await begin(first, db)
    await first.call('text', { text: 'done' })
    await first.call('ask')
    await db.until(`SELECT 1 FROM decisions WHERE status = 'pending'`)
    await first.call('end').catch(() => undefined)
    await first.died

    expect(db.rows('SELECT state FROM runs')).toEqual([{ state: 'terminalizing' }])
    expect(db.rows(`SELECT 1 FROM entries WHERE kind IN ('assistant', 'turn_end')`)).toEqual([])
    expect(db.rows('SELECT status FROM decisions')).toEqual([{ status: 'pending' }])
    expect(db.rows('SELECT status FROM turns')).toEqual([{ status: 'open' }])
    expect(db.rows(`SELECT 1 FROM run_events WHERE dedupe_key LIKE 'end:%'`)).toEqual([])

    await using second = await startProcess(db.dir)
    await expect(second.call('scan')).resolves.toMatchObject({ finished: 1, failed: 0 })
    expect(db.rows('SELECT state FROM runs')).toEqual([{ state: 'completed' }])
    expect(db.rows(`SELECT kind FROM entries WHERE kind IN ('assistant', 'turn_end') ORDER BY seq`)).toEqual([
      { kind: 'assistant' },
      { kind: 'turn_end' },
    ])
    expect(db.rows('SELECT status FROM decisions')).toEqual([{ status: 'cancelled' }])
    expect(db.rows('SELECT status FROM turns')).toEqual([{ status: 'completed' }])
    expect(db.rows(`SELECT type FROM run_events WHERE dedupe_key LIKE 'end:%'`)).toEqual([{ type: 'run_recovered' }])
    expect(gapless(db)).toBe(true)
    await expect(second.call('inspect', { sessionId })).resolves.toMatchObject({ state: 'idle' })
  },
)

test(
  'RT-A38 without last work the end is one commit: a crash inside it is a lost run',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir, { killAt: { name: 'terminal.before_commit', times: 1 } })
    await begin(first, db)
    await first.call('end').catch(() => undefined)
    await first.died
    expect(db.rows('SELECT state FROM runs')).toEqual([{ state: 'running' }])
    await using second = await startProcess(db.dir)
    await second.call('scan')
    expect(db.rows('SELECT state FROM runs')).toEqual([{ state: 'failed' }])
    expect(db.rows(`SELECT type FROM run_events WHERE dedupe_key LIKE 'end:%'`)).toEqual([{ type: 'run_recovered' }])
  },
)

test.each([
  ['RT-A39', 'terminal.after_commit'],
  ['RT-A40', 'release.after_commit'],
] as const)(
  '%s a crash at %s leaves a completed run and an idle session, here and elsewhere',
  { timeout: GENEROUS_MS },
  async (_id, name) => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir, { killAt: { name, times: 1 } })
    const { sessionId } = await begin(first, db)
    await first.call('end').catch(() => undefined)
    await first.died
    const before = seqs(db)
    await using here = await startProcess(db.dir)
    await using elsewhere = await startProcess(db.dir, { ownerHost: 'another' })
    for (const process of [here, elsewhere]) {
      await expect(process.call<Inspection>('inspect', { sessionId })).resolves.toMatchObject({
        state: 'idle',
        lastRun: { state: 'completed' },
      })
    }
    await expect(here.call('scan')).resolves.toEqual({ failed: 0, finished: 0, kept: 0, skipped: 0 })
    expect(seqs(db)).toEqual(before)
    await expect(here.call('submit', { sessionId })).resolves.toMatchObject({ replayed: false })
  },
)

test(
  'RT-A40 a crash of the recovering process is recovered by a third, with one end',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir)
    await begin(first, db)
    await first.kill()
    await using second = await startProcess(db.dir, { killAt: { name: 'converge.before_commit', times: 1 } })
    await second.call('scan').catch(() => undefined)
    await second.died
    expect(db.rows('SELECT state FROM runs')).toEqual([{ state: 'running' }])
    await using third = await startProcess(db.dir)
    await expect(third.call('scan')).resolves.toMatchObject({ failed: 1 })
    expect(db.rows(`SELECT type FROM run_events WHERE dedupe_key LIKE 'end:%'`)).toEqual([{ type: 'run_recovered' }])
  },
)

test(
  'RT-A10 the run of a killed process is orphaned at once on the same host, and ends soon after',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir)
    const { sessionId, runId } = await begin(first, db)
    await using second = await startProcess(db.dir)
    await expect(second.call<Inspection>('inspect', { sessionId })).resolves.toMatchObject({
      state: 'external',
      ownerPid: first.pid,
    })
    await first.kill()
    await expect(second.call<Inspection>('inspect', { sessionId })).resolves.toMatchObject({ state: 'orphaned' })
    await expect(second.call('wait', { runId, timeoutMs: '15000' })).resolves.toMatchObject({
      terminal: true,
      run: { state: 'failed', error: { code: 'owner_lost' } },
    })
  },
)

test('RT-A02 a key used in another process answers the same run', { timeout: GENEROUS_MS }, async () => {
  using db = createSharedDatabase()
  await using first = await startProcess(db.dir)
  await using second = await startProcess(db.dir)
  const { sessionId, runId } = await begin(first, db)
  await expect(second.call('submit', { sessionId, key: 'k' })).resolves.toMatchObject({ runId, replayed: true })
  expect(db.rows('SELECT 1 FROM runs')).toHaveLength(1)
})

test(
  'RT-A07 of two processes that submit to one idle session exactly one gets through, every time',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir)
    await using second = await startProcess(db.dir)
    for (let round = 0; round < ROUNDS; round++) {
      const sessionId = await first.call<string>('create')
      const results = await Promise.allSettled([
        first.call<Admission>('submit', { sessionId, key: 'a' }),
        second.call<Admission>('submit', { sessionId, key: 'b' }),
      ])
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const loser = results.find((result) => result.status === 'rejected')
      expect(loser?.reason).toMatchObject({ message: expect.stringMatching(/^session_(busy|run_active)$/) })
      expect(db.rows(`SELECT 1 FROM runs WHERE session_id = '${sessionId}'`)).toHaveLength(1)
    }
  },
)

test(
  'RT-A08 two processes that submit with one key and wait get one run, every time',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir)
    await using second = await startProcess(db.dir)
    for (let round = 0; round < ROUNDS; round++) {
      const sessionId = await first.call<string>('create')
      const [a, b] = await Promise.all([
        first.call<Admission>('submit', { sessionId, key: 'k', wait: 'true' }),
        second.call<Admission>('submit', { sessionId, key: 'k', wait: 'true' }),
      ])
      expect(a.runId).toBe(b.runId)
      expect(new Set([a.replayed, b.replayed])).toEqual(new Set([false, true]))
    }
  },
)

test(
  'RT-A49 of two answers from two processes one wins, the other learns which, and the agent gets one',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using owner = await startProcess(db.dir)
    await using other = await startProcess(db.dir)
    await begin(owner, db)
    // A run of its own: whoever holds a lease is watched by the others.
    await other.call('submit', { sessionId: await other.call<string>('create') })
    for (let round = 1; round <= ROUNDS; round++) {
      await owner.call('ask', { requestId: `r${round}` })
      const { id: decisionId } = await db.until<{ id: string }>(`SELECT id FROM decisions WHERE status = 'pending'`)
      const outcomes = await Promise.all([
        owner.call<{ kind: string }>('resolve', { decisionId, option: 'allow_once' }),
        other.call<{ kind: string }>('resolve', { decisionId, option: 'reject_once' }),
      ])
      expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['already_resolved', 'resolved'])
      const allow = outcomes[0].kind === 'resolved'
      expect(outcomes.find(({ kind }) => kind === 'already_resolved')).toMatchObject({
        answer: { option: allow ? 'allow_once' : 'reject_once' },
      })
      await expect
        .poll(async () => (await owner.call<unknown[]>('answers')).slice(round - 1), { timeout: 10_000 })
        .toMatchObject([{ requestId: `r${round}`, decision: { allow, by: 'person' } }])
      await db.until(RUNNING)
    }
  },
)

test(
  'RT-A51 a crash after an answer was saved leaves it saved and never handed over',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir, { killAt: { name: 'decision.after_commit', times: 1 } })
    await begin(first, db)
    await first.call('ask')
    const { id: decisionId } = await db.until<{ id: string }>(`SELECT id FROM decisions WHERE status = 'pending'`)
    await first.call('resolve', { decisionId }).catch(() => undefined)
    await first.died
    await using second = await startProcess(db.dir)
    await second.call('scan')
    expect(db.rows('SELECT status, applied_at FROM decisions')).toEqual([{ status: 'resolved', applied_at: null }])
    expect(db.rows('SELECT state FROM runs')).toEqual([{ state: 'failed' }])
    await expect(second.call('resolve', { decisionId })).resolves.toMatchObject({ kind: 'already_resolved' })
    await expect(second.call('answers')).resolves.toEqual([])
  },
)
