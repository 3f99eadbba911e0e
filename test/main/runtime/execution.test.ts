import { SqliteError } from 'better-sqlite3'
import { expect, test } from 'vitest'
import { writeTerminal } from '../../../src/main/runtime/execution/terminal.ts'
import { createTables } from '../../../src/main/runtime/store/index.ts'
import type { EventDraft } from '../../../src/main/runtime/store/events.ts'
import type { TerminalState } from '../../../src/shared/vocabulary.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'

const diskError = (): Error => new SqliteError('disk I/O error', 'SQLITE_IOERR')

test('RT-A20 raw SQL cannot change a run that has ended', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().end()
  await quiet()
  expect(() =>
    t.store.db.prepare(`UPDATE runs SET state = 'running', finished_at = NULL WHERE id = ?`).run(runId),
  ).toThrow(/terminal run is final/)
  expect(t.runtime.runs.get(runId).state).toBe('completed')
})

test('RT-A23 an end that cannot be written for 3 s is written once, and nobody gets in meanwhile', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.failpoints.failAt('terminal.before_commit', { always: true, error: diskError() })
  t.executor.last().end()
  await t.clock.advance(3_000)
  expect(t.runtime.runs.get(runId).state).toBe('running')
  await expect(t.submit({ text: 'more' })).rejects.toMatchObject({ code: 'session_run_active' })
  t.failpoints.failAt('terminal.before_commit', { error: diskError() })
  await t.clock.advance(2_000)
  expect(t.runtime.runs.get(runId).state).toBe('completed')
  expect(t.types().filter((type) => type.startsWith('run_finished'))).toEqual(['run_finished completed'])
})

test('RT-A24 an end that is pending for 10 s says so, keeps its lease, and is written when it can be', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.failpoints.failAt('terminal.before_commit', { always: true, error: diskError() })
  t.executor.last().end()
  await t.clock.advance(9_000)
  const pending = (): unknown[] =>
    t.log.entries.filter(({ fields }) => fields['code'] === 'terminal_persistence_pending')
  expect(pending()).toHaveLength(0)
  await t.clock.advance(2_000)
  expect(pending()).toHaveLength(1)
  expect(t.runtime.sessions.inspect(t.session.id)).toMatchObject({ state: 'local' })
  expect(t.runtime.sessions.inspect(t.session.id).leaseExpiresAt).toBeGreaterThan(t.clock.nowMs())
  t.failpoints.failAt('terminal.before_commit', { error: diskError() })
  await t.clock.advance(2_000)
  expect(t.runtime.runs.get(runId).state).toBe('completed')
  expect(t.types().filter((type) => type.startsWith('run_finished'))).toHaveLength(1)
  expect(t.runtime.sessions.inspect(t.session.id)).toMatchObject({ state: 'idle' })
})

test('RT-A25 an agent that had completed when it was stopped is completed', async () => {
  await using t = await createTestRuntime({ onCancel: (run) => run.end() })
  const { runId } = await t.submit()
  await quiet()
  await expect(t.runtime.runs.stop({ sessionId: t.session.id })).resolves.toMatchObject({ code: 'stop_accepted' })
  await quiet()
  expect(t.runtime.runs.get(runId)).toMatchObject({ state: 'completed', error: null })
})

test('RT-A25 an agent that stays silent is killed after 10 s, and its run ends within 15.5 s', async () => {
  await using t = await createTestRuntime({ onCancel: () => undefined })
  const { runId } = await t.submit()
  await quiet()
  await t.runtime.runs.stop({ sessionId: t.session.id })
  await t.clock.advance(9_900)
  expect(t.executor.last()).toMatchObject({ cancels: 1, kills: 0 })
  await t.clock.advance(5_600)
  expect(t.executor.last().kills).toBe(1)
  expect(t.runtime.runs.get(runId)).toMatchObject({
    state: 'cancelled',
    sideEffects: 'unknown',
    error: { code: 'run_cancelled', retryMode: 'user' },
  })
})

test('RT-A86 a stop while the agent starts ends the start, and never shows the run as running', async () => {
  await using t = await createTestRuntime({
    onStart: (run) =>
      new Promise((_resolve, reject) => {
        run.signal.addEventListener('abort', () => reject(new Error('aborted')))
      }),
  })
  const { runId } = await t.submit()
  await quiet()
  await t.runtime.runs.stop({ sessionId: t.session.id })
  await quiet()
  expect(t.executor.last().signal.aborted).toBe(true)
  expect(t.runtime.runs.get(runId)).toMatchObject({ state: 'cancelled', sideEffects: 'none' })
  expect(t.types()).toEqual(['run_created created', 'run_finished cancelled'])
})

test('RT-A86 an execution that comes all the same is killed', async () => {
  let go: () => void = () => undefined
  await using t = await createTestRuntime({
    onStart: () =>
      new Promise((resolve) => {
        go = resolve
      }),
  })
  const { runId } = await t.submit()
  await quiet()
  await t.runtime.runs.stop({ sessionId: t.session.id })
  await quiet()
  go()
  await quiet()
  expect(t.executor.last().kills).toBe(1)
  expect(t.runtime.runs.get(runId).state).toBe('cancelled')
  expect(t.types()).not.toContain('run_state running')
})

test('RT-A62 a start that is limited for 2 s is tried again after them, and completes', async () => {
  const { AppError } = await import('../../../src/shared/errors.ts')
  let limited = true
  await using t = await createTestRuntime({
    onStart() {
      if (!limited) return
      limited = false
      throw new AppError('rate_limited', 'slow down', { data: { httpStatus: 429, retryAfterMs: 2_000 } })
    },
  })
  const { runId } = await t.submit()
  await quiet()
  await t.clock.advance(1_900)
  expect(t.executor.runs).toHaveLength(1)
  const retrying = t.events().find(({ type }) => type === 'run_retrying')
  expect(retrying?.data).toMatchObject({ attempt: 2, retryAfterMs: 2_000, reasonCode: 'rate_limited' })
  await t.clock.advance(200)
  t.executor.last().end()
  await quiet()
  expect(t.executor.runs).toHaveLength(2)
  expect(t.rows(`SELECT state, progress FROM runs WHERE id = '${runId}'`)).toEqual([
    { state: 'completed', progress: null },
  ])
})

test('RT-A62 an unavailable Provider after the first text is not tried again, and needs a decision', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().text('half an')
  t.executor.last().end({ outcome: 'failed', error: { message: 'HTTP 503', httpStatus: 503 } })
  await quiet()
  expect(t.executor.runs).toHaveLength(1)
  expect(t.runtime.runs.get(runId)).toMatchObject({
    state: 'failed',
    partialOutput: true,
    error: { code: 'provider_unavailable', retryMode: 'decision_required', partialOutput: true },
  })
})

test('RT-A63 what an error says holds no credential, and is bounded', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  const detail = `api_key=abc123 Authorization: Bearer tok-987654 ${'x'.repeat(10_240)}`
  t.executor.last().end({ outcome: 'failed', error: { message: 'boom', detail } })
  await quiet()
  const error = t.runtime.runs.get(runId).error
  expect(Buffer.byteLength(error?.detail ?? '')).toBeLessThanOrEqual(4_096)
  const everything = JSON.stringify([error, t.events(), t.rows('SELECT * FROM runs'), t.log.entries])
  expect(everything).not.toMatch(/abc123|tok-987654/)
})

test('a run waits in line for a free slot, and one too many ends as failed', async () => {
  await using t = await createTestRuntime({ deps: { slots: 1 } })
  const first = await t.submit()
  const second = await t.runtime.sessions.create({
    agentId: 'claude',
    workDir: t.dir,
    createdVia: 'desktop',
    title: 'B',
  })
  await quiet()
  const waiting = await t.submit({ sessionId: second.id })
  await quiet()
  expect(t.runtime.runs.get(waiting.runId).state).toBe('queued')
  t.executor.last().end()
  await quiet()
  expect(t.runtime.runs.get(first.runId).state).toBe('completed')
  expect(t.runtime.runs.get(waiting.runId).state).toBe('running')
})

test('a run that takes too long times out, and waiting for a person does not count', async () => {
  await using t = await createTestRuntime({ deps: { timing: { attendedRunMs: 60_000 } } })
  const { runId } = await t.submit()
  await quiet()
  await t.clock.advance(50_000)
  t.executor.last().ask()
  await quiet()
  await t.clock.advance(600_000)
  expect(t.runtime.runs.get(runId).state).toBe('waiting_for_approval')
  const [pending] = t.runtime.decisions.pending(null)
  await t.runtime.decisions.resolve({
    decisionId: pending?.id ?? '',
    answer: { option: 'allow_once' },
    by: { via: 'window', connection: null },
  })
  await t.clock.advance(11_000)
  expect(t.runtime.runs.get(runId)).toMatchObject({ state: 'timed_out', error: { code: 'run_timed_out' } })
})

test('RT-A78 a message into a running turn is written first, handed over once, and never twice by one key', async () => {
  await using t = await createTestRuntime({ steers: 'taken' })
  const { runId } = await t.submit()
  await quiet()
  const message = { sessionId: t.session.id, expectedRunId: runId, text: 'also the tests', key: 's1' }
  await expect(t.runtime.runs.steer(message)).resolves.toEqual({ status: 'delivered', replayed: false })
  await expect(t.runtime.runs.steer(message)).resolves.toEqual({ status: 'delivered', replayed: true })
  expect(t.executor.last().steered).toEqual(['also the tests'])
  expect(t.types().filter((type) => type === 'user_steered')).toHaveLength(1)
  expect(t.rows(`SELECT kind FROM entries WHERE kind = 'user'`)).toHaveLength(2)
  await expect(t.runtime.runs.steer({ ...message, key: 's2', expectedRunId: 'other' })).rejects.toMatchObject({
    code: 'steer_unavailable',
  })
  expect(t.rows(`SELECT kind FROM entries WHERE kind = 'user'`)).toHaveLength(2)
})

test('RT-A78 an agent that takes no message says so before anything is written, one that refuses it says so after', async () => {
  await using without = await createTestRuntime()
  const first = await without.submit()
  await quiet()
  const { id: sessionId } = without.session
  await expect(without.runtime.runs.steer({ sessionId, expectedRunId: first.runId, text: 'x' })).rejects.toMatchObject({
    code: 'steer_unavailable',
  })
  expect(without.types()).not.toContain('user_steered')

  await using refusing = await createTestRuntime({ steers: 'refused', namespace: 1 })
  const { runId } = await refusing.submit()
  await quiet()
  await expect(
    refusing.runtime.runs.steer({ sessionId: refusing.session.id, expectedRunId: runId, text: 'x' }),
  ).resolves.toEqual({ status: 'undelivered', replayed: false })
  expect(refusing.types().filter((type) => type === 'notice')).toHaveLength(1)
})

test('RT-A77 a wait ends with its run, or says at its timeout that it has not ended', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  const short = t.runtime.runs.wait({ runId, timeoutMs: 100 })
  const long = t.runtime.runs.wait({ runId })
  await t.clock.advance(100)
  await expect(short).resolves.toMatchObject({ terminal: false, run: { state: 'running' } })
  t.executor.last().end()
  await expect(long).resolves.toMatchObject({ terminal: true, run: { state: 'completed' } })
  await expect(t.runtime.runs.wait({ runId })).resolves.toMatchObject({ terminal: true })
})

test('each tool call leaves one entry that outlives the log, and the answer is found by search', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  for (const phase of ['started', 'finished'] as const) {
    t.executor.last().sink.push({
      kind: 'tool',
      phase,
      toolCallId: 't1',
      tool: 'execute',
      name: 'Bash',
      title: 'npm test',
      status: phase === 'started' ? 'in_progress' : 'completed',
      paths: [],
      content: phase === 'started' ? [] : [{ type: 'output', text: '"q"\n'.repeat(5_000), exitCode: 0 }],
    })
  }
  t.executor.last().text('The tests are green as grass.')
  t.executor.last().end()
  await quiet()
  expect(t.rows('SELECT kind FROM entries ORDER BY seq')).toEqual(
    ['turn_start', 'user', 'tool', 'assistant', 'turn_end'].map((kind) => ({ kind })),
  )
  expect(t.rows(`SELECT octet_length(body) <= 4096 AS fits FROM entries WHERE kind = 'tool'`)).toEqual([{ fits: 1 }])
  expect(
    t.rows(`SELECT e.kind FROM entries_fts f JOIN entries e ON e.n = f.rowid WHERE entries_fts MATCH 'grass'`),
  ).toEqual([{ kind: 'assistant' }])
})

test('RT-A74 a stop of the runtime cancels every run, releases every lease and refuses what comes later', async () => {
  const t = await createTestRuntime()
  const runs: string[] = []
  for (let index = 0; index < 8; index++) {
    const { id } = await t.runtime.sessions.create({
      agentId: 'claude',
      workDir: t.dir,
      createdVia: 'desktop',
      title: 'x',
    })
    runs.push((await t.submit({ sessionId: id })).runId)
  }
  await quiet()
  const stopping = t.runtime.stop()
  await expect(t.submit()).rejects.toMatchObject({ code: 'runtime_stopping' })
  await t.clock.advance(1_000)
  await stopping
  expect(runs.map((runId) => t.runtime.runs.get(runId).state)).toEqual(runs.map(() => 'cancelled'))
  expect(t.rows(`SELECT 1 FROM leases WHERE state = 'active'`)).toEqual([])
  await t[Symbol.asyncDispose]()
})

test("RT-A89 the agent's own retry is shown and kept while it lasts, and gone at the end", async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().sink.push({
    kind: 'retrying',
    attempt: 2,
    maxAttempts: null,
    reasonCode: 'rate_limited',
    retryAfterMs: 500,
    continues: true,
  })
  await t.clock.advance(100)
  const progress = (): unknown => t.rows(`SELECT json_extract(progress, '$.continues') AS c FROM runs`)
  expect(t.events().at(-1)).toMatchObject({ type: 'run_retrying', data: { attempt: 2, continues: true } })
  expect(progress()).toEqual([{ c: 1 }])
  t.executor.last().end()
  await quiet()
  expect(progress()).toEqual([{ c: null }])
  expect(t.runtime.runs.get(runId).state).toBe('completed')
})

test('an agent that goes on talking after its end is heard no more, which the log says once', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().end()
  await quiet()
  const before = t.events()
  t.executor.last().text('and one more thing')
  t.executor.last().text('and another')
  await t.clock.advance(1_000)
  expect(t.events()).toEqual(before)
  expect(t.runtime.runs.get(runId).state).toBe('completed')
  expect(t.log.entries.filter(({ message }) => message.includes('went on talking'))).toHaveLength(1)
})

test('RT-A22 an end asked for twice is written once, and another one is refused', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  const tables = createTables(t.store.db, createFakeIds(7))
  const emitted: EventDraft[] = []
  const write = (state: TerminalState): Promise<unknown> =>
    t.store.writeTx(() =>
      writeTerminal(tables, (...drafts) => emitted.push(...drafts), {
        runId,
        sessionId: t.session.id,
        end: {
          state,
          stopReason: null,
          error: null,
          assistant: null,
          tools: [],
          sideEffects: 'none',
          partialOutput: false,
        },
        from: ['running', 'terminalizing'],
        event: 'run_finished',
        by: { via: 'policy', connection: null },
        at: t.clock.nowMs(),
        capabilityOf: () => null,
        failpoint: () => undefined,
      }),
    )
  await expect(write('completed')).resolves.toEqual([])
  await expect(write('completed')).resolves.toEqual([])
  await expect(write('failed')).rejects.toMatchObject({ code: 'run_terminal_conflict' })
  expect(emitted.map(({ type }) => type)).toEqual(['run_finished'])
})
