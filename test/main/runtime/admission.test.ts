import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SqliteError } from 'better-sqlite3'
import { expect, test } from 'vitest'
import { createFakeIds } from '../../support/ids.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'

test('RT-A01 a prompt to an idle session is one intent, one run, one open turn and two events', async () => {
  await using t = await createTestRuntime()
  const admission = await t.submit()
  await quiet()

  expect(t.runtime.runs.get(admission.runId)).toMatchObject({ state: 'running', attempt: 1, accepted: true })
  expect(t.rows('SELECT status, start_seq FROM turns')).toEqual([{ status: 'open', start_seq: 1 }])
  expect(t.rows('SELECT seq, kind FROM entries ORDER BY seq')).toEqual([
    { seq: 1, kind: 'turn_start' },
    { seq: 2, kind: 'user' },
  ])
  expect(t.rows('SELECT purpose, epoch, run_id, state FROM leases')).toEqual([
    { purpose: 'execution', epoch: 1, run_id: admission.runId, state: 'active' },
  ])
  expect(t.events().map(({ seq, type, state }) => ({ seq, type, state }))).toEqual([
    { seq: 1, type: 'run_created', state: 'created' },
    { seq: 2, type: 'run_state', state: 'running' },
  ])
  expect([t.count('intents'), t.count('runs'), t.count('submissions'), t.count('decisions')]).toEqual([1, 1, 0, 0])
})

test('RT-A01 a plain run on a warm worker costs three commits', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  t.executor.last().text('hello')
  t.executor.last().end()
  await quiet()
  expect(t.commits()).toBe(3)
  expect(t.types()).toEqual(['run_created created', 'run_state running', 'output_text', 'run_finished completed'])
  expect(t.rows('SELECT state FROM leases')).toEqual([{ state: 'released' }])
})

test('RT-A02 a key used again answers the same run, while it runs and after it has ended', async () => {
  await using t = await createTestRuntime()
  const first = await t.submit({ key: 'k' })
  await quiet()
  const during = await t.submit({ key: 'k' })
  t.executor.last().end()
  await quiet()
  const before = [t.count('runs'), t.count('intents'), t.count('run_events'), t.count('submissions')]
  const after = await t.submit({ key: 'k' })
  expect(during).toMatchObject({ runId: first.runId, replayed: true, state: 'running' })
  expect(after).toMatchObject({ runId: first.runId, replayed: true, state: 'completed' })
  expect([t.count('runs'), t.count('intents'), t.count('run_events'), t.count('submissions')]).toEqual(before)
})

test('RT-A17 a run that wants no other Provider keeps to that in its retry, and its key stands for no other run', async () => {
  await using t = await createTestRuntime()
  const first = await t.submit({ key: 'k', failover: 'off' })
  await expect(t.submit({ key: 'k' })).rejects.toMatchObject({ code: 'idempotency_conflict' })
  await quiet()
  t.executor.last().end({ outcome: 'failed', error: { message: 'HTTP 503' } })
  await quiet()
  await t.runtime.runs.retry({ runId: first.runId, source: 'desktop', acknowledgeSideEffects: true })
  await quiet()
  expect(t.executor.runs.map(({ spec }) => spec.policy.failover)).toEqual(['off', 'off'])
})

test('RT-A03 a key used for another text is a conflict that names the first run', async () => {
  await using t = await createTestRuntime()
  const first = await t.submit({ key: 'k' })
  await expect(t.submit({ key: 'k', text: 'other' })).rejects.toMatchObject({
    code: 'idempotency_conflict',
    data: { runId: first.runId },
  })
  expect([t.count('runs'), t.count('intents')]).toEqual([1, 1])
})

test('RT-A05 a key of a submission cannot be used for a retry', async () => {
  await using t = await createTestRuntime()
  const first = await t.submit({ key: 'k' })
  await quiet()
  t.executor.last().end({ outcome: 'failed', error: { message: '', code: 'rate_limited' } })
  await quiet()
  await expect(t.runtime.runs.retry({ runId: first.runId, source: 'desktop', key: 'k' })).rejects.toMatchObject({
    code: 'idempotency_conflict',
    data: { runId: first.runId },
  })
  expect(t.count('runs')).toBe(1)
  const retried = await t.runtime.runs.retry({ runId: first.runId, source: 'desktop', key: 'k2' })
  expect(retried.replayed).toBe(false)
})

test('RT-A16 a full disk admits nothing and leaves no lease', async () => {
  await using t = await createTestRuntime()
  t.failpoints.failAt('admit.before_commit', { error: new SqliteError('database or disk is full', 'SQLITE_FULL') })
  await expect(t.submit({ key: 'k' })).rejects.toMatchObject({ code: 'storage_full' })
  const tables = ['intents', 'runs', 'run_events', 'turns', 'submissions', 'leases']
  expect(tables.map(t.count)).toEqual(tables.map(() => 0))
  await expect(t.submit({ key: 'k' })).resolves.toMatchObject({ replayed: false })
})

test('RT-A17 a retry is a linked attempt at the same intent, of the newest attempt alone', async () => {
  await using t = await createTestRuntime()
  const first = await t.submit()
  await quiet()
  t.executor.last().sink.push({
    kind: 'tool',
    phase: 'finished',
    toolCallId: 't1',
    tool: 'read',
    name: 'Read',
    title: 'a.txt',
    status: 'completed',
    paths: [],
    content: [],
  })
  t.executor.last().end({ outcome: 'failed', error: { message: 'HTTP 503' } })
  await quiet()
  const intent = t.rows('SELECT * FROM intents')
  const run = t.rows(`SELECT * FROM runs WHERE id = '${first.runId}'`)
  const retried = await t.runtime.runs.retry({ runId: first.runId, source: 'desktop' })
  await quiet()
  expect(t.runtime.runs.get(retried.runId)).toMatchObject({ attempt: 2, retryOf: first.runId })
  expect(t.rows('SELECT * FROM intents')).toEqual(intent)
  expect(t.rows(`SELECT * FROM runs WHERE id = '${first.runId}'`)).toEqual(run)
  t.executor.last().end({ outcome: 'failed', error: { message: 'HTTP 503' } })
  await quiet()
  await expect(t.runtime.runs.retry({ runId: first.runId, source: 'desktop' })).rejects.toMatchObject({
    code: 'retry_not_latest',
  })
})

test('RT-A17 an agent that took the prompt is asked to continue, one that never did gets it again', async () => {
  let refuse = true
  await using t = await createTestRuntime({
    onStart() {
      if (refuse) throw new Error('no agent')
    },
  })
  const first = await t.submit({ text: 'paint it red' })
  await quiet()
  refuse = false
  const second = await t.runtime.runs.retry({ runId: first.runId, source: 'desktop' })
  await quiet()
  expect(t.executor.last().spec.prompt.text).toBe('paint it red')
  t.executor.last().end({ outcome: 'failed', error: { message: 'HTTP 503' } })
  await quiet()
  await t.runtime.runs.retry({ runId: second.runId, source: 'desktop' })
  await quiet()
  expect(t.executor.last().spec.prompt.text).toMatch(/continue/i)
})

test('RT-A18 what may have changed something is repeated only by a person who says so', async () => {
  await using t = await createTestRuntime()
  const first = await t.submit()
  await quiet()
  t.executor.last().sink.push({
    kind: 'tool',
    phase: 'started',
    toolCallId: 't1',
    tool: 'edit',
    name: 'Edit',
    title: 'a.txt',
    status: 'in_progress',
    paths: [],
    content: [],
  })
  t.executor.last().end({ outcome: 'failed', error: { message: 'HTTP 503' } })
  await quiet()
  const again = { runId: first.runId, source: 'desktop' as const }
  await expect(t.runtime.runs.retry(again)).rejects.toMatchObject({ code: 'retry_needs_decision' })
  await expect(t.runtime.runs.retry({ ...again, acknowledgeSideEffects: true })).resolves.toMatchObject({
    replayed: false,
  })
})

test('RT-A76 a lookup answers by the table of submissions and writes nothing', async () => {
  await using t = await createTestRuntime()
  const asked = { sessionId: t.session.id, text: 'hi', source: 'desktop' as const, key: 'k' }
  expect(t.runtime.runs.lookup(asked)).toBeNull()
  const { runId } = await t.submit({ key: 'k' })
  await quiet()
  expect(t.runtime.runs.lookup(asked)).toMatchObject({ runId, state: 'running' })
  t.executor.last().end()
  await quiet()
  const before = [t.count('runs'), t.count('run_events'), t.count('submissions')]
  expect(t.runtime.runs.lookup(asked)).toMatchObject({ runId, state: 'completed' })
  expect(() => t.runtime.runs.lookup({ ...asked, text: 'other' })).toThrow(
    expect.objectContaining({ code: 'idempotency_conflict' }),
  )
  expect(() => t.runtime.runs.lookup({ runId, source: 'desktop', key: 'k' })).toThrow(
    expect.objectContaining({ code: 'idempotency_conflict' }),
  )
  expect([t.count('runs'), t.count('run_events'), t.count('submissions')]).toEqual(before)
})

test('a session with a run under way refuses a second prompt, and one whose worker is held refuses any', async () => {
  let held = false
  await using t = await createTestRuntime({ deps: { isHeld: () => held } })
  await t.submit()
  await expect(t.submit({ text: 'more' })).rejects.toMatchObject({ code: 'session_run_active', retryable: true })
  held = true
  await expect(t.submit({ text: 'more' })).rejects.toMatchObject({ code: 'worker_still_alive' })
})

test('the first prompt names a session that has no title, and never one that a person named', async () => {
  await using t = await createTestRuntime({ title: '' })
  await t.submit({ text: `${'wörd '.repeat(20)}\nand a second line` })
  expect(t.runtime.sessions.get(t.session.id)).toMatchObject({ titleBy: 'prompt' })
  expect(Array.from(t.runtime.sessions.get(t.session.id).title).length).toBeLessThanOrEqual(60)
  await quiet()
  t.executor.last().sink.push({ kind: 'title', title: 'Words' })
  await t.clock.advance(100)
  expect(t.runtime.sessions.get(t.session.id)).toMatchObject({ title: 'Words', titleBy: 'agent' })
  await t.runtime.sessions.rename(t.session.id, 'Mine')
  t.executor.last().sink.push({ kind: 'title', title: 'Other' })
  await t.clock.advance(100)
  expect(t.runtime.sessions.get(t.session.id)).toMatchObject({ title: 'Mine', titleBy: 'person' })
  expect(t.types()).toContain('title_changed')
})

test('a prompt is the same without NUL and half characters in the transcript, the log and for the agent', async () => {
  await using t = await createTestRuntime()
  await expect(t.submit({ text: '\0 \0' })).rejects.toMatchObject({ code: 'prompt_invalid' })
  await t.submit({ text: 'a\0b\ud800c' })
  await quiet()
  expect(t.executor.last().spec.prompt.text).toBe('ab\ufffdc')
  expect(t.rows(`SELECT json_extract(body, '$.text') AS text FROM entries WHERE kind = 'user'`)).toEqual([
    { text: 'ab\ufffdc' },
  ])
  expect(t.events()[0]?.data).toMatchObject({ prompt: 'ab\ufffdc' })
})

test('RT-A04 a key whose run was pruned starts nothing', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit({ key: 'k' })
  await quiet()
  t.executor.last().end()
  await quiet()
  t.store.db.prepare('DELETE FROM runs WHERE id = ?').run(runId)
  await expect(t.submit({ key: 'k' })).rejects.toMatchObject({ code: 'idempotency_run_missing' })
  expect(t.count('runs')).toBe(0)
})

test('RT-A06 neither the key of a submission nor the token of a lease stands in the database or its log', async () => {
  await using t = await createTestRuntime()
  await t.submit({ key: 'my-own-submission-key' })
  await quiet()
  const folder = dirname(t.store.path)
  const files = readdirSync(folder).filter((name) => name.startsWith('wheelhouse.db'))
  const stored = Buffer.concat(files.map((name) => readFileSync(join(folder, name))))
  const holds = (part: string | Buffer): boolean => stored.indexOf(part) >= 0
  const token = Buffer.from(createFakeIds().bytes(32))
  expect(holds('my-own-submission-key')).toBe(false)
  expect(holds(createHash('sha256').update('my-own-submission-key').digest('hex'))).toBe(true)
  expect(holds(token)).toBe(false)
  expect(holds(token.toString('hex'))).toBe(false)
  expect(holds(createHash('sha256').update(token).digest('hex'))).toBe(true)
})

test('RT-A87 resources that cannot be read admit nothing', async () => {
  await using t = await createTestRuntime({
    deps: {
      resources: {
        async resolve() {
          throw new Error('mcp.json is broken')
        },
      },
    },
  })
  await expect(t.submit()).rejects.toMatchObject({ code: 'resources_invalid' })
  expect([t.count('intents'), t.count('runs'), t.count('leases')]).toEqual([0, 0, 0])
})
