import { expect, test } from 'vitest'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime } from './support/runtime.ts'

const DAY_MS = 24 * 3_600_000

async function run(t: TestRuntime, text: string, key?: string): Promise<string> {
  const { runId } = await t.submit({ text, ...(key === undefined ? {} : { key }) })
  await quiet()
  t.executor.last().text(`answer to ${text}`)
  t.executor.last().end()
  await t.clock.advance(10)
  return runId
}

test('RT-A04 runs of 90 days ago go with their part of the log, but for the last 50; what was said stays', async () => {
  await using t = await createTestRuntime()
  const sessionId = t.session.id
  // More sessions than are looked at in one go, all of them before this one.
  t.store.db.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 450)
    INSERT INTO sessions (id, agent_id, work_dir, created_via, created_at, updated_at)
    SELECT printf('00-%04d', i), 'claude', '/', 'desktop', 0, 0 FROM n`)
  for (let n = 1; n <= 52; n++) await run(t, `prompt ${n}`, `key ${n}`)
  t.clock.jumpWall(90 * DAY_MS - 60_000)
  await t.runtime.cleanUp()
  expect(t.count('runs')).toBe(52)
  t.clock.jumpWall(60_001)
  await t.runtime.cleanUp()
  expect(t.count('runs')).toBe(50)
  const { floorSeq, headSeq } = t.runtime.sessions.get(sessionId)
  expect(floorSeq).toBeGreaterThan(0)
  expect(t.count('run_events')).toBe(headSeq - floorSeq)
  const page = t.runtime.events.read({ sessionId, afterSeq: floorSeq, limit: 1 })
  expect(page.events).toMatchObject([{ seq: floorSeq + 1, type: 'run_created' }])
  expect(() => t.runtime.events.read({ sessionId, afterSeq: floorSeq - 1 })).toThrow(
    expect.objectContaining({ code: 'event_cursor_expired' }),
  )
  await expect(t.submit({ text: 'prompt 1', key: 'key 1' })).rejects.toMatchObject({ code: 'idempotency_run_missing' })
  expect(t.count('runs')).toBe(50)
  const [oldest] = (await t.runtime.sessions.snapshot({ sessionId, limit: 50 })).turns
  const earlier = await t.runtime.sessions.snapshot({ sessionId, beforeTurn: oldest?.runId ?? '' })
  expect(earlier.turns.map(({ prompt, items }) => [prompt, items])).toMatchObject([
    ['prompt 1', [{ kind: 'text', text: 'answer to prompt 1' }]],
    ['prompt 2', [{ kind: 'text', text: 'answer to prompt 2' }]],
  ])
  t.clock.jumpWall(90 * DAY_MS)
  await t.runtime.cleanUp()
  expect(t.count('submissions')).toBe(0)
})

test('RT-A80 a maintenance run is a run in all but the transcript', async () => {
  await using t = await createTestRuntime({ title: '' })
  const { runId } = await t.submit({ text: 'tidy up', conversation: false, key: 'k' })
  await quiet()
  t.executor.last().text('tidied')
  t.executor.last().end()
  await t.clock.advance(10)
  expect(t.runtime.runs.get(runId).state).toBe('completed')
  expect(t.types()).toEqual(['run_created created', 'run_state running', 'output_text', 'run_finished completed'])
  expect([t.count('turns'), t.count('entries')]).toEqual([0, 0])
  expect(t.runtime.sessions.get(t.session.id).title).toBe('')
  expect((await t.runtime.sessions.snapshot({ sessionId: t.session.id })).turns).toEqual([])
  await expect(t.submit({ text: 'tidy up', key: 'k' })).rejects.toMatchObject({ code: 'idempotency_conflict' })
  const again = await t.runtime.runs.retry({ runId, source: 'desktop' })
  await quiet()
  expect([t.count('turns'), t.count('entries')]).toEqual([0, 0])
  expect(t.runtime.runs.get(again.runId).attempt).toBe(2)
})
