import { expect, test } from 'vitest'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createTempDir } from '../../support/dir.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'

test('RT-A61 a change by who saw an older revision is refused, and a running run keeps what it was admitted with', async () => {
  await using t = await createTestRuntime()
  const { id: sessionId } = t.session
  const { runId } = await t.submit()
  await quiet()
  const policy = t.rows(`SELECT policy FROM runs WHERE id = '${runId}'`)
  await expect(t.runtime.config.set({ sessionId, expectedRev: 1, mode: 'plan' })).resolves.toEqual({
    rev: 2,
    changed: ['mode'],
  })
  await expect(t.runtime.config.set({ sessionId, expectedRev: 1, mode: 'yolo' })).rejects.toMatchObject({
    code: 'config_conflict',
    data: { rev: 2 },
  })
  await expect(t.runtime.config.set({ sessionId, expectedRev: 2, mode: 'plan' })).resolves.toEqual({
    rev: 2,
    changed: [],
  })
  await expect(t.runtime.config.set({ sessionId, expectedRev: 2, mode: 'os' })).rejects.toMatchObject({
    code: 'mode_not_allowed',
  })
  expect(t.rows(`SELECT policy FROM runs WHERE id = '${runId}'`)).toEqual(policy)
  expect(t.types()).toContain('config_changed')
})

test('RT-A81 extra roots are cleaned, sorted and replaced whole, and only those that exist reach a run', async () => {
  await using t = await createTestRuntime()
  const { id: sessionId } = t.session
  mkdirSync(join(t.dir, 'a', 'c'), { recursive: true })
  const dirs = [`${t.dir}/a/b/../c/`, `${t.dir}/a//c`, `${t.dir}/0`, t.dir]
  await expect(t.runtime.sessions.setRoots({ sessionId, dirs, expectedRev: 1 })).resolves.toMatchObject({
    extraDirs: [`${t.dir}/0`, `${t.dir}/a/c`],
    rev: 2,
  })
  await expect(t.runtime.sessions.setRoots({ sessionId, dirs: ['x/y'], expectedRev: 2 })).rejects.toMatchObject({
    code: 'root_invalid',
  })
  await expect(t.runtime.sessions.setRoots({ sessionId, dirs: [], expectedRev: 1 })).rejects.toMatchObject({
    code: 'config_conflict',
  })
  await t.submit()
  await quiet()
  expect(t.executor.last().spec.policy.roots).toEqual([t.dir, `${t.dir}/a/c`])
  expect(t.events().filter(({ type }) => type === 'notice')).toMatchObject([{ data: { code: 'root_missing' } }])
})

test('a session works nowhere in the data folder, under its own name or behind a link', async () => {
  await using t = await createTestRuntime()
  const data = join(t.dir, 'data')
  mkdirSync(join(data, 'providers'), { recursive: true })
  symlinkSync(data, join(t.dir, 'innocent'))
  const create = { agentId: 'builtin', createdVia: 'browser' } as const
  for (const folder of [data, join(data, 'providers'), join(t.dir, 'innocent'), join(t.dir, 'innocent', 'providers')]) {
    await expect(t.runtime.sessions.create({ ...create, workDir: folder })).rejects.toMatchObject({
      code: 'root_invalid',
    })
    await expect(t.runtime.sessions.create({ ...create, workDir: t.dir, extraDirs: [folder] })).rejects.toMatchObject({
      code: 'root_invalid',
    })
    await expect(
      t.runtime.sessions.setRoots({ sessionId: t.session.id, dirs: [folder], expectedRev: 1 }),
    ).rejects.toMatchObject({ code: 'root_invalid' })
  }
  await expect(t.runtime.sessions.create({ ...create, workDir: t.dir })).resolves.toMatchObject({ workDir: t.dir })
})

test('RT-A75 deleting a session beside a lost run ends that run first; beside a live owner it is refused', async () => {
  using dir = createTempDir()
  await using first = await createTestRuntime({ dir: dir.path })
  await using second = await createTestRuntime({ dir: dir.path, namespace: 1 })
  const { runId } = await first.submit()
  await quiet()
  const sessionId = first.session.id
  await expect(second.runtime.sessions.delete(sessionId)).rejects.toMatchObject({ code: 'session_run_active' })
  expect(second.runtime.runs.get(runId).state).toBe('running')
  await second.clock.advance(15_001)
  const gone: string[] = []
  using _watching = second.runtime.changes.subscribe((change) => {
    if (change.kind === 'session' && change.deleted === true) gone.push(change.sessionId)
  })
  await second.runtime.sessions.delete(sessionId)
  expect(gone).toEqual([sessionId])
  expect(second.rows(`SELECT 1 FROM runs WHERE session_id = '${sessionId}'`)).toEqual([])
  expect(() => second.runtime.sessions.get(sessionId)).toThrow(expect.objectContaining({ code: 'session_not_found' }))
})

test('a long session is deleted in parts, and nothing of it is left', async () => {
  await using t = await createTestRuntime()
  const { id: sessionId } = t.session
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().end()
  await quiet()
  t.store.db.exec(`
    WITH RECURSIVE n(i) AS (SELECT 101 UNION ALL SELECT i + 1 FROM n WHERE i < 1300)
    INSERT INTO run_events (session_id, seq, run_id, type, at, data) SELECT '${sessionId}', i, '${runId}', 'output_text', i, '{}' FROM n;
    UPDATE sessions SET last_event_seq = 1300 WHERE id = '${sessionId}'`)
  const before = t.commits()
  await t.runtime.sessions.delete(sessionId)
  expect(t.commits() - before).toBeGreaterThan(3)
  for (const table of ['sessions', 'runs', 'run_events', 'entries', 'turns', 'leases']) expect(t.count(table)).toBe(0)
})

test('a session has a folder that exists, and an id is given once', async () => {
  await using t = await createTestRuntime()
  const make = { agentId: 'codex' as const, workDir: t.dir, createdVia: 'cli' as const }
  await expect(t.runtime.sessions.create({ ...make, workDir: join(t.dir, 'none') })).rejects.toMatchObject({
    code: 'work_dir_missing',
  })
  await expect(t.runtime.sessions.create({ ...make, id: t.session.id })).rejects.toMatchObject({
    code: 'session_exists',
  })
  const { id } = await t.runtime.sessions.create(make)
  expect(t.runtime.sessions.get(id, { workDir: `${t.dir}/` })).toMatchObject({ id, agentId: 'codex', mode: null })
  expect(() => t.runtime.sessions.get(id, { workDir: '/' })).toThrow(
    expect.objectContaining({ code: 'session_not_found' }),
  )
  await t.runtime.sessions.archive(id, true)
  expect(t.runtime.sessions.list({}).sessions.map((session) => session.id)).toEqual([t.session.id])
  expect(t.runtime.sessions.list({ archived: true })).toMatchObject({ total: 1, sessions: [{ id }] })
})

test('a draft is changed only by who saw its newest revision', async () => {
  await using t = await createTestRuntime()
  const { id: sessionId } = t.session
  expect(t.runtime.drafts.get(sessionId)).toBeNull()
  await expect(t.runtime.drafts.set({ sessionId, expectedRev: 0, text: 'a' })).resolves.toMatchObject({ rev: 1 })
  await expect(t.runtime.drafts.set({ sessionId, expectedRev: 0, text: 'b' })).rejects.toMatchObject({
    code: 'draft_conflict',
    data: { rev: 1, text: 'a' },
  })
  await expect(t.runtime.drafts.set({ sessionId, expectedRev: 1, text: 'b' })).resolves.toMatchObject({ rev: 2 })
})

test('a queued draft is sent once after a run that completed, and stays after any other end', async () => {
  await using t = await createTestRuntime()
  const { id: sessionId } = t.session
  await t.submit()
  await quiet()
  await t.runtime.drafts.set({ sessionId, expectedRev: 0, text: 'and then this', queued: true })
  t.executor.last().end({ outcome: 'failed', error: { message: 'HTTP 400' } })
  await quiet()
  expect(t.runtime.drafts.get(sessionId)).toMatchObject({ text: 'and then this', queued: true })
  await t.submit({ text: 'again' })
  await quiet()
  t.executor.last().end()
  await expect.poll(() => t.executor.runs.map(({ spec }) => spec.prompt.text)).toEqual(['hi', 'again', 'and then this'])
  await expect.poll(() => t.runtime.drafts.get(sessionId)).toMatchObject({ text: '', queued: false })
})

test('a snapshot pages from the newest turn backwards', async () => {
  await using t = await createTestRuntime()
  const { id: sessionId } = t.session
  for (const text of ['one', 'two', 'three']) {
    await t.submit({ text })
    await quiet()
    t.executor.last().end()
    await t.clock.advance(10)
  }
  const newest = await t.runtime.sessions.snapshot({ sessionId, limit: 2 })
  expect(newest.turns.map(({ prompt }) => prompt)).toEqual(['two', 'three'])
  expect(newest.hasEarlier).toBe(true)
  const earlier = await t.runtime.sessions.snapshot({ sessionId, beforeTurn: newest.turns[0]?.runId ?? '', limit: 2 })
  expect(earlier).toMatchObject({ turns: [{ prompt: 'one' }], hasEarlier: false })
})

test('a run that has ended is worked out once, also where it is one of many in a snapshot', async () => {
  await using t = await createTestRuntime()
  const { id: sessionId } = t.session
  await t.submit()
  await quiet()
  t.executor.last().end()
  await t.clock.advance(10)
  const first = await t.runtime.sessions.snapshot({ sessionId })
  await quiet()
  expect(t.rows('SELECT run_id FROM run_views')).toEqual([{ run_id: first.turns[0]?.runId }])
  expect((await t.runtime.sessions.snapshot({ sessionId })).turns).toEqual(first.turns)
})

test('what a list says of each session is read for all of them at once', async () => {
  await using t = await createTestRuntime()
  const { id } = t.session
  const none = { damaged: false, active: null, ended: null, pendingDecisions: 0 }
  expect(t.runtime.sessions.briefs(['gone', id])).toEqual([
    { sessionId: 'gone', ...none },
    { sessionId: id, ...none },
  ])
  const first = await t.submit()
  await quiet()
  t.executor.last().end({ outcome: 'failed', error: { message: 'HTTP 400' } })
  await t.clock.advance(10)
  const second = await t.submit()
  await quiet()
  t.executor.last().ask()
  await quiet()
  const [brief] = t.runtime.sessions.briefs([id])
  expect(brief).toMatchObject({
    active: { runId: second.runId, state: 'waiting_for_approval', startedAt: expect.any(Number) },
    ended: { runId: first.runId, state: 'failed', errorCode: expect.any(String) },
    pendingDecisions: 1,
  })
  expect(t.runtime.sessions.withActiveRun()).toEqual([id])
})
