import { expect, test } from 'vitest'
import { createLeaseKeeper, isLease } from '../../../src/main/runtime/leases/keeper.ts'
import type { Lease } from '../../../src/main/runtime/leases/keeper.ts'
import { createLeaseValidity } from '../../../src/main/runtime/leases/validity.ts'
import { createTables } from '../../../src/main/runtime/store/index.ts'
import type { LeaseRow } from '../../../src/main/runtime/store/leases.ts'
import { TIMING } from '../../../src/main/runtime/timing.ts'
import { createFakeClock } from '../../support/clock.ts'
import { createTempDir } from '../../support/dir.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'

test('RT-A12 all leases of an instance are renewed in one transaction every 3 s, and without a lease there is none', async () => {
  await using t = await createTestRuntime()
  for (let n = 0; n < 3; n++) {
    const { id } = await t.runtime.sessions.create({
      agentId: 'claude',
      workDir: t.dir,
      createdVia: 'desktop',
      title: 'x',
    })
    await t.submit({ sessionId: id })
  }
  await quiet()
  const before = t.commits()
  await t.clock.advance(30_000)
  expect(t.commits() - before).toBe(10)
  expect(t.rows(`SELECT 1 FROM leases WHERE state = 'active' AND expires_at > ${t.clock.nowMs()}`)).toHaveLength(3)
  for (const run of t.executor.runs) run.end()
  await quiet()
  const idle = t.commits()
  await t.clock.advance(30_000)
  expect(t.commits() - idle).toBe(0)
})

test('RT-A14 a lease that ran out and that nobody took is still its owner’s', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.clock.jumpWall(20_000)
  await t.clock.advance(3_000)
  expect(t.rows('SELECT epoch, expires_at > heartbeat_at AS alive FROM leases')).toEqual([{ epoch: 1, alive: 1 }])
  t.executor.last().end()
  await quiet()
  expect(t.runtime.runs.get(runId).state).toBe('completed')
})

test('RT-A09 an owner that was displaced writes nothing more, and its agent is taken away', async () => {
  using dir = createTempDir()
  await using first = await createTestRuntime({ dir: dir.path })
  await using second = await createTestRuntime({ dir: dir.path, namespace: 1 })
  const { runId } = await first.submit()
  await quiet()
  const sessionId = first.session.id
  const items: string[] = []
  const leave = new AbortController()
  const watching = (async () => {
    for await (const item of first.runtime.events.subscribe({ sessionId, afterSeq: 2 }, leave.signal)) {
      items.push(item.kind)
    }
  })()
  // The second process finds the lease run out while the first one stands still.
  await second.clock.advance(15_001)
  const admitted = await second.submit({ sessionId, wait: true })
  expect(second.runtime.runs.get(runId)).toMatchObject({ state: 'failed', error: { code: 'owner_lost' } })
  expect(second.rows('SELECT epoch FROM leases')).toEqual([{ epoch: 3 }])
  await quiet()
  const before = second.rows('SELECT count(*) AS n FROM run_events')

  first.executor.last().text('too late')
  await first.clock.advance(1_000)
  await quiet()
  expect(first.executor.last().kills).toBe(1)
  expect(second.rows('SELECT count(*) AS n FROM run_events')).toEqual(before)
  expect(items).toContain('ownership_lost')
  expect(second.runtime.runs.get(admitted.runId).state).toBe('running')
  await quiet()
  leave.abort()
  await watching
})

test('what was taken over writes nothing: `lease_lost`; and only a recovery becomes an execution: `lease_purpose_invalid`', async () => {
  await using t = await createTestRuntime()
  const { clock, log, store, failpoints } = t
  const ids = createFakeIds(7)
  const host = { ownerHost: 'here', pid: 9, isAlive: () => true }
  const isValid = createLeaseValidity({ clock, host })
  const { leases } = createTables(store.db, ids)
  const keeperOf = () =>
    createLeaseKeeper({ clock, ids, log, store, failpoints, host, leases, isValid, timing: TIMING })
  const take = (keeper: ReturnType<typeof keeperOf>): Promise<Lease> =>
    store.writeTx((tx) => {
      const taken = keeper.take(tx, { sessionId: t.session.id, purpose: 'mutation', runId: null })
      if (!isLease(taken)) throw new Error('somebody has it')
      return taken
    })
  const first = keeperOf()
  const second = keeperOf()
  const lease = await take(first)
  await expect(store.writeTx((tx) => first.executeIn(tx, lease))).rejects.toMatchObject({
    code: 'lease_purpose_invalid',
  })
  await expect(take(second)).rejects.toThrow('somebody has it')
  first.stop()
  t.clock.jumpWall(15_001)
  const taken = await take(second)
  expect(taken.epoch).toBe(lease.epoch + 1)
  await expect(store.writeTx((tx) => first.fence(tx, lease))).rejects.toMatchObject({ code: 'lease_lost' })
  await quiet()
  expect(lease.lost.aborted).toBe(true)
  await store.writeTx((tx) => second.fence(tx, taken))
  second.stop()
})

test('a lease binds until it runs out, but not that of a process that is gone from this machine', () => {
  const clock = createFakeClock()
  const alive = new Set([1])
  const isValid = createLeaseValidity({
    clock,
    host: { ownerHost: 'here', pid: 9, isAlive: (pid) => alive.has(pid) },
  })
  const lease = (change: Partial<LeaseRow>): LeaseRow => ({
    sessionId: 's',
    epoch: 1,
    tokenHash: 't',
    ownerInstance: 'i',
    ownerPid: 1,
    ownerHost: 'here',
    purpose: 'mutation',
    runId: null,
    state: 'active',
    heartbeatAt: clock.nowMs(),
    expiresAt: clock.nowMs() + 15_000,
    ...change,
  })
  expect(isValid(lease({}))).toBe(true)
  expect(isValid(lease({ state: 'released' }))).toBe(false)
  expect(isValid(lease({ expiresAt: clock.nowMs() }))).toBe(false)
  expect(isValid(lease({ ownerPid: 2 }))).toBe(false)
  expect(isValid(lease({ ownerPid: 2, ownerHost: 'elsewhere' }))).toBe(true)
})

test('a lease from before the wall clock went back stops binding once its heartbeat stood still', async () => {
  const clock = createFakeClock()
  const isValid = createLeaseValidity({ clock, host: { ownerHost: 'here', pid: 9, isAlive: () => true } })
  const now = clock.nowMs()
  const lease: LeaseRow = {
    sessionId: 's',
    epoch: 1,
    tokenHash: 't',
    ownerInstance: 'i',
    ownerPid: 1,
    ownerHost: 'here',
    purpose: 'mutation',
    runId: null,
    state: 'active',
    heartbeatAt: now,
    expiresAt: now + 15_000,
  }
  clock.jumpWall(-3_600_000)
  expect(isValid(lease)).toBe(true)
  await clock.advance(14_000)
  expect(isValid(lease)).toBe(true)
  await clock.advance(1_000)
  expect(isValid(lease)).toBe(false)
})
