import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { createTempDir } from '../../support/dir.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'

test('RT-A46 what another instance commits is seen within 400 ms, and without a subscriber nobody looks', async () => {
  using dir = createTempDir()
  await using here = await createTestRuntime({ dir: dir.path })
  await using there = await createTestRuntime({ dir: dir.path, namespace: 1 })
  let polls = 0
  const { db } = here.store
  const pragma = db.pragma.bind(db)
  db.pragma = (source, options) => {
    if (source === 'data_version') polls++
    return pragma(source, options)
  }
  const sessionId = there.session.id
  await there.submit()
  await quiet()
  await there.clock.advance(60_000)
  await here.clock.advance(60_000)
  expect(polls).toBe(0)

  const texts: unknown[] = []
  const leave = new AbortController()
  const watching = (async () => {
    for await (const item of here.runtime.events.subscribe({ sessionId, afterSeq: 2 }, leave.signal)) {
      if (item.kind === 'events') texts.push(...item.events.map(({ data }) => data['text']))
    }
  })()
  await here.clock.advance(250)
  there.executor.last().text('from elsewhere')
  await there.clock.advance(100)
  await here.clock.advance(400)
  await quiet()
  expect(texts).toEqual(['from elsewhere'])
  leave.abort()
  await watching
})

test('RT-A77 a wait for a run of another instance ends within 400 ms of its end', async () => {
  using dir = createTempDir()
  await using here = await createTestRuntime({ dir: dir.path })
  await using there = await createTestRuntime({ dir: dir.path, namespace: 1 })
  const { runId } = await there.submit()
  await quiet()
  const waiting = here.runtime.runs.wait({ runId })
  await here.clock.advance(1_000)
  there.executor.last().end()
  await quiet()
  await here.clock.advance(400)
  await expect(waiting).resolves.toMatchObject({ terminal: true, run: { state: 'completed' } })
})

test(
  'RT-A13 a database that is locked for 10 s costs no lease, one that is locked for 20 s costs every one',
  { timeout: 60_000 },
  async () => {
    await using t = await createTestRuntime()
    const { runId } = await t.submit()
    await quiet()
    const locker = new Sqlite(t.store.path, { timeout: 1 })
    t.store.db.pragma('busy_timeout = 1')
    const lockFor = async (ms: number): Promise<void> => {
      locker.exec('BEGIN IMMEDIATE')
      await t.clock.advance(ms)
      locker.exec('ROLLBACK')
      await t.clock.advance(1_000)
      await quiet()
    }
    await lockFor(10_000)
    expect(t.runtime.sessions.inspect(t.session.id).state).toBe('local')
    await lockFor(20_000)
    expect(t.executor.last().kills).toBe(1)
    expect(t.log.entries.filter(({ message }) => message === 'A lease was lost.')).toHaveLength(1)
    expect(t.runtime.runs.get(runId).state).toBe('running')
    locker.close()
  },
)

test('RT-A11 an owner on another machine is believed for 15 s after its last heartbeat, and its run ended then', async () => {
  using dir = createTempDir()
  const elsewhere = { ownerHost: 'host-b', pid: 1, isAlive: () => true }
  await using there = await createTestRuntime({ dir: dir.path, namespace: 1, deps: { host: elsewhere } })
  const { id: sessionId } = there.session
  const { runId } = await there.submit()
  await quiet(8)
  // Its pid says nothing here: on this machine a process of that number may be gone, or be another.
  const host = { ownerHost: 'host-a', pid: 2, isAlive: () => false }
  await using here = await createTestRuntime({ dir: dir.path, namespace: 2, deps: { host } })
  await here.clock.advance(14_000)
  expect(here.runtime.sessions.inspect(sessionId).state).toBe('external')
  await expect(here.runtime.recovery.scanNow()).resolves.toMatchObject({ skipped: 1 })
  here.runtime.start()
  await here.clock.advance(2_000)
  expect(here.runtime.sessions.inspect(sessionId).state).toBe('orphaned')
  await here.clock.advance(13_000)
  await quiet(8)
  expect(here.runtime.runs.get(runId)).toMatchObject({ state: 'failed', error: { code: 'owner_lost' } })
})

test('RT-A11 the same on this machine needs no waiting once the process is gone', async () => {
  using dir = createTempDir()
  await using there = await createTestRuntime({ dir: dir.path, namespace: 1 })
  await there.submit()
  await quiet(8)
  const host = { ownerHost: 'host-a', pid: 2, isAlive: () => false }
  await using here = await createTestRuntime({ dir: dir.path, namespace: 2, deps: { host } })
  expect(here.runtime.sessions.inspect(there.session.id).state).toBe('orphaned')
})
