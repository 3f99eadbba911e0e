/** The codes that no other test has a reason to meet. */
import { expect, test } from 'vitest'
import { createSessionRuntimes } from '../../../src/main/executor/index.ts'
import type { AgentExecutor, Agents } from '../../../src/main/executor/index.ts'
import type { Providers } from '../../../src/main/providers/index.ts'
import { createSlots } from '../../../src/main/runtime/execution/slots.ts'
import type { Actor } from '../../../src/shared/vocabulary.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime } from './support/runtime.ts'

const window: Actor = { via: 'window', connection: null }
const signal = (): AbortSignal => new AbortController().signal

/** A run that no process owns. */
async function orphan(t: TestRuntime): Promise<string> {
  const { runId } = await t.submit()
  await quiet(8)
  t.executor.last().end()
  await quiet(8)
  t.store.db
    .prepare(
      `UPDATE runs SET state = 'running', finished_at = NULL, error = NULL, reopen_count = reopen_count + 1 WHERE id = ?`,
    )
    .run(runId)
  return runId
}

test('a run that is not there is `run_not_found`, asked of whom it may be', async () => {
  await using t = await createTestRuntime()
  for (const ask of [
    () => t.runtime.runs.get('none'),
    () => t.runtime.runs.view('none'),
    () => t.runtime.runs.replay('none'),
  ]) {
    await expect((async () => ask())()).rejects.toMatchObject({ code: 'run_not_found' })
  }
  await expect(t.runtime.recovery.reopen({ runId: 'none', evidence: null })).rejects.toMatchObject({
    code: 'run_not_found',
  })
})

test('a line that is full takes nobody more: `run_queue_full`', () => {
  const slots = createSlots(1, 1)
  slots.take()
  slots.take()
  expect(() => slots.take()).toThrow(expect.objectContaining({ code: 'run_queue_full', retryable: true }))
})

test('what was tried 20 times is not tried again: `retry_limit`', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet(8)
  t.executor.last().end({ outcome: 'failed' })
  await quiet(8)
  t.store.db.exec('UPDATE runs SET attempt = 20')
  await expect(t.runtime.runs.retry({ runId, source: 'desktop' })).rejects.toMatchObject({ code: 'retry_limit' })
})

test('a run that changed while it was taken over is `lease_run_mismatch`, and one that ended is left alone', async () => {
  await using t = await createTestRuntime()
  const runId = await orphan(t)
  /** Scans while somebody else's transaction stands before the one that takes the run over. */
  const scanBehind = async (sql: string): Promise<unknown> => {
    const first = t.store.writeTx(() => undefined)
    const second = t.store.writeTx(() => t.store.db.exec(sql))
    const scanned = t.runtime.recovery.scanNow()
    await Promise.all([first, second])
    return scanned
  }
  await expect(scanBehind('UPDATE runs SET updated_at = updated_at + 1')).rejects.toMatchObject({
    code: 'lease_run_mismatch',
  })
  await expect(
    scanBehind(`UPDATE runs SET state = 'failed', finished_at = updated_at WHERE id = '${runId}'`),
  ).resolves.toMatchObject({ skipped: 1, failed: 0 })
  expect(t.rows('SELECT 1 FROM run_recoveries')).toEqual([])
})

test('a run whose agent still lives cannot be stopped in its owner’s place: `session_recovery_failed`', async () => {
  await using t = await createTestRuntime({ quiesce: () => 'alive' })
  await orphan(t)
  const { code } = await t.runtime.runs.stop({ sessionId: t.session.id })
  expect(code).toBe('session_recovery_failed')
})

test('the mode of a chat’s session is not for choosing: `mode_forced`', async () => {
  await using t = await createTestRuntime()
  await t.runtime.sessions.bind(t.session.id, { source: 'channel', externalKey: 'chat-1' })
  const { rev } = t.runtime.sessions.get(t.session.id)
  const { id: sessionId } = await t.runtime.sessions.create({
    agentId: 'claude',
    workDir: t.dir,
    createdVia: 'channel',
    binding: { source: 'channel', externalKey: 'chat-2' },
  })
  const forced = t.runtime.sessions.get(sessionId)
  await expect(t.runtime.config.set({ sessionId, expectedRev: forced.rev, mode: 'plan' })).rejects.toMatchObject({
    code: 'mode_forced',
  })
  expect(rev).toBe(1)
})

test('without a Provider to choose from there is no such choice: `config_option_unavailable`', async () => {
  await using t = await createTestRuntime()
  const request = { sessionId: t.session.id, allowHistoryStrip: false, expectedRev: 1, by: window }
  const choice = { connectionId: 'c', modelId: null, effort: 'default' as const }
  await expect(t.runtime.config.setChoice({ ...request, choice }, signal())).rejects.toMatchObject({
    code: 'config_option_unavailable',
  })
})

test('a Provider that is none of the agent’s is `config_value_invalid`, and the row stays', async () => {
  await using t = await createTestRuntime()
  const agent = { id: 'claude', label: 'Claude', client: null, ownLogin: true }
  const runtimes = createSessionRuntimes({
    store: t.store,
    agents: { get: () => agent } as unknown as Agents,
    providers: { failure: () => null } as unknown as Providers,
    executor: {} as AgentExecutor,
    runtime: () => t.runtime,
    presetOf: () => null,
  })
  const { id: sessionId, rev: expectedRev } = t.session
  const choice = { connectionId: 'stranger', modelId: 'm', effort: 'default' as const }
  await expect(
    runtimes.set({ sessionId, choice, allowHistoryStrip: false, expectedRev, by: window }),
  ).rejects.toMatchObject({ code: 'config_value_invalid' })
  expect(t.runtime.sessions.get(sessionId).rev).toBe(expectedRev)
})

test('a session whose Provider left the catalog admits nothing: `provider_unavailable_config`', async () => {
  await using t = await createTestRuntime({ deps: { isProvider: (id) => id === 'known' } })
  const choose = (connectionId: string) =>
    t.store.writeTx((tx) => {
      const { rev: expectedRev } = t.runtime.sessions.get(t.session.id)
      const choice = { connectionId, modelId: 'm', effort: 'default' as const }
      return t.runtime.config.applyChoice({ sessionId: t.session.id, choice, expectedRev, by: window }, tx)
    })
  await choose('gone')
  await expect(t.submit()).rejects.toMatchObject({ code: 'provider_unavailable_config' })
  expect([t.count('intents'), t.count('runs')]).toEqual([0, 0])
  await choose('known')
  await expect(t.submit()).resolves.toMatchObject({ replayed: false })
})

test.runIf(process.platform === 'linux')(
  'a work directory in which nothing can be kept refuses its attachments: `input_root_unwritable`',
  async () => {
    await using t = await createTestRuntime()
    const { id: sessionId } = await t.runtime.sessions.create({
      agentId: 'claude',
      workDir: '/proc/self',
      createdVia: 'desktop',
    })
    const open = async () => ({ stream: (async function* () {})() })
    await expect(
      t.runtime.inputs.prepare({ sessionId, origin: 'test', itemIndex: 0, kind: 'file', open }),
    ).rejects.toMatchObject({ code: 'input_root_unwritable' })
  },
)

test('an agent that never gets ready is given up, three times: `worker_start_timeout`', async () => {
  await using t = await createTestRuntime({
    onStart: () => new Promise(() => undefined),
    deps: { timing: { startLimitMs: 1_000 } },
  })
  const { runId } = await t.submit()
  await quiet(8)
  for (let step = 0; step < 20; step++) await t.clock.advance(1_000)
  await quiet(8)
  expect(t.executor.runs).toHaveLength(3)
  expect(t.runtime.runs.get(runId)).toMatchObject({ state: 'failed', error: { code: 'worker_start_timeout' } })
})

test('a model that refuses is `content_rejected`, whatever it says the outcome is', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet(8)
  t.executor.last().end({ outcome: 'completed', stopReason: 'refusal' })
  await quiet(8)
  expect(t.runtime.runs.get(runId)).toMatchObject({
    state: 'failed',
    error: { code: 'content_rejected', failureClass: 'policy', retryMode: 'user' },
  })
})
