import { expect, test } from 'vitest'
import type { TestRuntime } from './support/runtime.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'

/** A run as a process left it that is gone. */
async function orphan(t: TestRuntime, state = 'running'): Promise<string> {
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().end()
  await quiet()
  await t.store.writeTx(() => {
    t.store.db
      .prepare(
        `UPDATE runs SET state = ?, finished_at = NULL, error = NULL, reopen_count = reopen_count + 1 WHERE id = ?`,
      )
      .run(state, runId)
    t.store.db.prepare(`UPDATE turns SET status = 'open', end_seq = NULL WHERE run_id = ?`).run(runId)
  })
  return runId
}

function lease(t: TestRuntime, change: Record<string, unknown>): void {
  const { sql, values } = Object.entries(change).reduce<{ sql: string[]; values: unknown[] }>(
    (sum, [name, value]) => ({ sql: [...sum.sql, `${name} = ?`], values: [...sum.values, value] }),
    { sql: [], values: [] },
  )
  t.store.db.prepare(`UPDATE leases SET ${sql.join(', ')}`).run(...values)
}

test('RT-A70 each state of a session is told apart, and a stop does what that state allows', async () => {
  await using t = await createTestRuntime()
  const { id: sessionId } = t.session
  const look = (): unknown => {
    const { state, phase, linkage, recoveryAction } = t.runtime.sessions.inspect(sessionId)
    return { state, phase, linkage, recoveryAction }
  }
  const stop = async (expectedRunId?: string): Promise<string> =>
    (await t.runtime.runs.stop({ sessionId, ...(expectedRunId === undefined ? {} : { expectedRunId }) })).code

  expect(look()).toEqual({ state: 'idle', phase: null, linkage: 'none', recoveryAction: 'none' })
  expect(await stop()).toBe('no_active_run')
  expect(t.runtime.sessions.inspect('none')).toMatchObject({ state: 'unknown', phase: 'missing', sessionExists: false })

  const runId = await orphan(t)
  const far = t.clock.nowMs() + 20_000
  lease(t, { state: 'active', owner_instance: 'other', expires_at: far, purpose: 'execution', run_id: runId })
  expect(look()).toEqual({ state: 'external', phase: 'executing', linkage: 'bound', recoveryAction: 'none' })
  expect(await stop(runId)).toBe('session_run_owned_elsewhere')
  lease(t, { purpose: 'recovery' })
  expect(look()).toEqual({ state: 'reserved', phase: 'recovering', linkage: 'bound', recoveryAction: 'retry_recovery' })
  expect(await stop()).toBe('session_reserved')
  lease(t, { run_id: 'another' })
  expect(look()).toMatchObject({ state: 'inconsistent', linkage: 'mismatched' })
  expect(await stop()).toBe('session_execution_state_unavailable')
  lease(t, { state: 'released' })
  expect(look()).toMatchObject({ state: 'orphaned', recoveryAction: 'recover_orphan' })
  expect(await stop('an-older-run')).toBe('session_run_target_changed')
  expect(t.runtime.runs.get(runId).state).toBe('running')
  expect(await stop(runId)).toBe('recovery_started')
  expect(t.runtime.runs.get(runId)).toMatchObject({
    state: 'cancelled',
    error: { code: 'cancelled_by_user_after_owner_loss' },
  })

  const live = await t.submit()
  await quiet()
  expect(look()).toEqual({ state: 'local', phase: 'executing', linkage: 'bound', recoveryAction: 'none' })
  expect(await stop('an-older-run')).toBe('session_run_target_changed')
  expect(await stop(live.runId)).toBe('stop_accepted')
  await quiet()
  lease(t, {
    state: 'active',
    owner_instance: 'other',
    expires_at: t.clock.nowMs() + 20_000,
    purpose: 'mutation',
    run_id: null,
  })
  expect(look()).toMatchObject({ state: 'reserved', phase: 'reserved', linkage: 'none' })
})

test('RT-A72 an agent that outlived its owner is waited for, longer each time, unless a person wants it stopped', async () => {
  let answers: ('alive' | 'stopped')[] = ['alive', 'alive', 'stopped']
  await using t = await createTestRuntime({ quiesce: () => answers.shift() ?? 'stopped' })
  const { id: sessionId } = t.session
  const runId = await orphan(t)
  await expect(t.runtime.recovery.scanNow()).rejects.toMatchObject({ code: 'worker_still_alive' })
  const state = (): unknown => {
    const { state, recoveryNextAt, recoveryAttempt } = t.runtime.sessions.inspect(sessionId)
    return { state, inMs: (recoveryNextAt ?? 0) - t.clock.nowMs(), attempt: recoveryAttempt }
  }
  expect(state()).toEqual({ state: 'recovery_failed', inMs: 1_000, attempt: 1 })
  await expect(t.runtime.recovery.scanNow()).resolves.toMatchObject({ skipped: 1 })
  t.clock.jumpWall(1_000)
  await expect(t.runtime.recovery.scanNow()).rejects.toMatchObject({ code: 'worker_still_alive' })
  expect(state()).toEqual({ state: 'recovery_failed', inMs: 2_000, attempt: 2 })
  answers = ['stopped']
  await expect(t.runtime.runs.stop({ sessionId })).resolves.toMatchObject({ code: 'recovery_started' })
  expect(t.runtime.runs.get(runId)).toMatchObject({ state: 'cancelled', sideEffects: 'unknown' })
})

test('RT-A90 a scan that fails is told to the host, and the next one converges', async () => {
  let alive = true
  await using t = await createTestRuntime({ quiesce: () => (alive ? 'alive' : 'absent') })
  const runId = await orphan(t)
  const told: unknown[] = []
  using _watching = t.runtime.changes.subscribe((change) => {
    if (change.kind === 'scan') told.push(change.error ?? change.outcome)
  })
  const { firstScan } = t.runtime.start()
  await expect(firstScan).rejects.toMatchObject({ code: 'worker_still_alive' })
  alive = false
  await t.clock.advance(5_000)
  expect(t.runtime.runs.get(runId).state).toBe('failed')
  expect(told.slice(0, 2)).toEqual(['worker_still_alive', { failed: 1, finished: 0, kept: 0, skipped: 0 }])
})

test('a prompt to a session with a lost run ends that run first', async () => {
  await using t = await createTestRuntime()
  const runId = await orphan(t)
  const next = await t.submit({ text: 'more' })
  expect(t.runtime.runs.get(runId)).toMatchObject({ state: 'failed', error: { code: 'owner_lost' } })
  expect(next.replayed).toBe(false)
  expect(t.rows('SELECT state, completed_at IS NULL AS open FROM run_recoveries')).toEqual([
    { state: 'completed', open: 0 },
  ])
})

test('a tool that was open when its owner died leaves the effects unknown', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().sink.push({
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
  t.executor.last().end()
  await quiet()
  // A log that is longer than what is looked through at once, which begins with the tool.
  const { headSeq } = t.runtime.sessions.get(t.session.id)
  t.store.db.exec(`
    WITH RECURSIVE n(i) AS (SELECT ${headSeq + 1} UNION ALL SELECT i + 1 FROM n WHERE i < 4500)
    INSERT INTO run_events (session_id, seq, run_id, type, at, data) SELECT '${t.session.id}', i, '${runId}', 'output_text', i, '{}' FROM n;
    UPDATE sessions SET last_event_seq = 4500;
    UPDATE runs SET state = 'running', finished_at = NULL, reopen_count = reopen_count + 1`)
  await t.runtime.recovery.scanNow()
  expect(t.runtime.runs.get(runId)).toMatchObject({ state: 'failed', sideEffects: 'unknown' })
})

test('after a sleep the next look for lost runs waits 15 s, so that live owners renew first', async () => {
  await using t = await createTestRuntime()
  await t.runtime.start().firstScan
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().end()
  await quiet()
  t.store.db.exec(`UPDATE runs SET state = 'running', finished_at = NULL, reopen_count = reopen_count + 1`)
  t.clock.jumpWall(3_600_000)
  await t.clock.advance(5_000)
  expect(t.runtime.runs.get(runId).state).toBe('running')
  await t.clock.advance(14_999)
  expect(t.runtime.runs.get(runId).state).toBe('running')
  await t.clock.advance(1)
  await quiet()
  expect(t.runtime.runs.get(runId).state).toBe('failed')
})
