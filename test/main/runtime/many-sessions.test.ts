/** A host that has been used for years: many sessions, and what is done once lasts. */
import { expect, test } from 'vitest'
import { createTempDir } from '../../support/dir.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime } from './support/runtime.ts'

function addSessions({ store, dir }: TestRuntime, count: number): void {
  store.db
    .prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO sessions (id, title, agent_id, work_dir, created_via, last_entry_seq, created_at, updated_at)
       SELECT 'many-' || i, 'Number ' || i, 'claude', ?, 'desktop', 1, i, i FROM n`,
    )
    .run(count, dir)
}

test('DT-A10 of a thousand sessions the oldest is found by a word of its transcript, and listed in pages', async () => {
  await using t = await createTestRuntime()
  addSessions(t, 1_000)
  t.store.db.exec(`
    INSERT INTO entries (id, session_id, seq, kind, body, created_at)
    SELECT 'e ' || id, id, 1, 'user', json_object('text', CASE id WHEN 'many-1' THEN 'a needle in hay' ELSE 'only hay' END), 0
    FROM sessions WHERE id LIKE 'many-%'`)
  const { hits } = t.runtime.sessions.search({ text: 'hay needle' })
  expect(hits).toMatchObject([{ sessionId: 'many-1', sessionTitle: 'Number 1' }])
  expect(t.runtime.sessions.search({ text: 'needle', sessionId: 'many-2' }).hits).toEqual([])
  const titles: string[] = []
  for (let offset = 0; offset < 1_001; offset += 500) {
    titles.push(...t.runtime.sessions.list({ limit: 500, offset }).sessions.map(({ title }) => title))
  }
  expect(new Set(titles).size).toBe(1_001)
  expect(titles.at(-1)).toBe('Number 1')
})

test('DT-A39 with 200 idle sessions and a window that follows them no timer runs more than once a second', async () => {
  await using t = await createTestRuntime()
  addSessions(t, 200)
  t.runtime.start()
  const leave = new AbortController()
  for (let n = 1; n <= 20; n++) {
    void t.runtime.events.subscribe({ sessionId: `many-${n}`, afterSeq: 0 }, leave.signal)
  }
  using _watching = t.runtime.changes.subscribe(() => undefined)
  await t.clock.advance(10_000)
  const [fired, commits] = [t.clock.fired(), t.commits()]
  await t.clock.advance(60_000)
  expect(t.clock.fired() - fired).toBeLessThanOrEqual(60)
  expect(t.commits() - commits).toBe(0)
  leave.abort()
})

test('DT-A36 a fork, a name and a place in the archive are the same after a restart, and what was deleted stays gone', async () => {
  using dir = createTempDir()
  const first = await createTestRuntime({ dir: dir.path, title: 'First' })
  const { id } = first.session
  await first.submit({ text: 'go' })
  await quiet()
  first.executor.last().text('gone')
  first.executor.last().end()
  await first.clock.advance(10)
  const { sessionId: fork } = await first.runtime.sessions.fork({ sourceId: id, requestId: 'r' })
  const { sessionId: deleted } = await first.runtime.sessions.fork({ sourceId: id, requestId: 'd' })
  await first.runtime.sessions.rename(fork, 'Another way')
  await first.runtime.sessions.archive(id, true)
  await first.runtime.sessions.delete(deleted)
  const turns = async ({ runtime }: TestRuntime) => (await runtime.sessions.snapshot({ sessionId: fork })).turns
  const before = await turns(first)
  expect(before).toMatchObject([{ prompt: 'go', items: [{ text: 'gone' }] }])
  await first[Symbol.asyncDispose]()

  await using second = await createTestRuntime({ dir: dir.path, namespace: 1, title: 'Second' })
  const titles = (archived: boolean): string[] =>
    second.runtime.sessions.list({ archived }).sessions.map(({ title }) => title)
  expect([titles(false).toSorted(), titles(true)]).toEqual([['Another way', 'Second'], ['First']])
  expect(second.runtime.sessions.get(fork)).toMatchObject({ titleBy: 'person', parentId: id })
  expect(await turns(second)).toEqual(before)
  expect(() => second.runtime.sessions.get(deleted)).toThrow(expect.objectContaining({ code: 'session_not_found' }))
})
