/** What is the most of everything, and what one more is told. */
import { expect, test } from 'vitest'
import { createTestRuntime, quiet } from './support/runtime.ts'

const code = (value: string) => expect.objectContaining({ code: value })

test('a key has at most 200 bytes, whatever surrounds it, and a prompt 20 attachments, each of them once', async () => {
  await using t = await createTestRuntime()
  await expect(t.submit({ key: 'é'.repeat(101) })).rejects.toThrow(code('prompt_invalid'))
  await expect(t.submit({ key: '  ' })).rejects.toThrow(code('prompt_invalid'))
  await expect(t.submit({ inputs: Array.from({ length: 21 }, String) })).rejects.toThrow(code('prompt_invalid'))
  await expect(t.submit({ inputs: ['a', 'a'] })).rejects.toThrow(code('prompt_invalid'))
  expect(t.count('intents')).toBe(0)
  await expect(t.submit({ key: ` ${'é'.repeat(100)} ` })).resolves.toMatchObject({ replayed: false })
})

test('a prompt has at most 256 KiB, and so has a message to a run', async () => {
  await using t = await createTestRuntime()
  const most = 'x'.repeat(256 * 1024)
  await expect(t.submit({ text: `${most}x` })).rejects.toThrow(code('prompt_invalid'))
  const { runId } = await t.submit({ text: most })
  await quiet()
  const steer = (text: string) => t.runtime.runs.steer({ sessionId: t.session.id, expectedRunId: runId, text })
  await expect(steer(`${most}x`)).rejects.toThrow(code('prompt_invalid'))
})

test('a session has at most 16 extra folders, and a fork request an id of at most 256 bytes', async () => {
  await using t = await createTestRuntime()
  const { id: sessionId } = t.session
  const dirs = Array.from({ length: 17 }, (_, n) => `/extra/${n}`)
  await expect(t.runtime.sessions.setRoots({ sessionId, dirs, expectedRev: 1 })).rejects.toThrow(code('root_invalid'))
  await expect(t.runtime.sessions.setRoots({ sessionId, dirs: dirs.slice(1), expectedRev: 1 })).resolves.toMatchObject({
    rev: 2,
  })
  const fork = (requestId: string) => t.runtime.sessions.fork({ sourceId: sessionId, requestId })
  await expect(fork('x'.repeat(257))).rejects.toThrow(code('input_invalid'))
  await expect(fork('x'.repeat(256))).rejects.toThrow(code('fork_no_completed_turn'))
})

test('at most 64 sessions are held at once, and at most 64 windows follow them', async () => {
  await using t = await createTestRuntime()
  const ids = Array.from({ length: 65 }, (_, n) => `session ${n}`)
  await expect(t.runtime.sessions.hold(ids, async () => undefined)).rejects.toThrow(code('input_invalid'))
  const leave = new AbortController()
  const follow = () => t.runtime.events.subscribe({ sessionId: t.session.id, afterSeq: 0 }, leave.signal)
  for (let window = 0; window < 64; window++) follow()
  expect(follow).toThrow(code('too_many_calls'))
  leave.abort()
  const again = new AbortController()
  expect(() => t.runtime.events.subscribe({ sessionId: t.session.id, afterSeq: 0 }, again.signal)).not.toThrow()
  again.abort()
})

test('a page has at most 500 sessions or 1000 events, however many are asked for', async () => {
  await using t = await createTestRuntime()
  const { id } = t.session
  t.store.db.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
    INSERT INTO run_events (session_id, seq, type, at) SELECT '${id}', i, 'notice', i FROM n;
    UPDATE sessions SET last_event_seq = 1100;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
    INSERT INTO sessions (id, agent_id, work_dir, created_via, created_at, updated_at)
    SELECT 'other ' || i, 'claude', '/', 'desktop', 0, 0 FROM n`)
  const { sessions, total } = t.runtime.sessions.list({ limit: 5_000 })
  expect([sessions.length, total]).toEqual([500, 601])
  const page = t.runtime.events.read({ sessionId: id, afterSeq: 0, limit: 5_000 })
  expect([page.events.length, page.hasMore]).toEqual([1_000, true])
})

test('a session keeps at most 500 rules: the next "always" counts once', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  t.store.db.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    INSERT INTO permission_rules (id, session_id, match_kind, pattern, effect, created_at)
    SELECT 'rule ' || i, '${t.session.id}', 'tool', 'tool ' || i, 'allow', 0 FROM n`)
  const { workDir } = t.session
  t.executor.last().ask({ action: { kind: 'command', command: 'rm build/app.log', cwd: workDir, wrapper: null } })
  await quiet()
  const [asked] = t.runtime.decisions.pending(null)
  const by = { via: 'window', connection: 'w' } as const
  await expect(
    t.runtime.decisions.resolve({ decisionId: asked?.id ?? '', answer: { option: 'allow_session' }, by }),
  ).resolves.toEqual({ kind: 'resolved' })
  await quiet()
  expect(t.count('permission_rules')).toBe(500)
  expect(t.executor.last().answers).toMatchObject([{ decision: { allow: true } }])
})

test('how long a run that nobody watches waits for an answer is what the host says', async () => {
  await using t = await createTestRuntime({ deps: { unattendedDecisionMs: () => 60_000 } })
  await t.submit({ source: 'cron' })
  await quiet()
  t.executor.last().ask()
  await quiet()
  expect(t.runtime.decisions.pending(null)).toHaveLength(1)
  await t.clock.advance(60_001)
  await quiet()
  expect(t.runtime.decisions.pending(null)).toEqual([])
  expect(t.executor.last().answers).toMatchObject([{ decision: { allow: false, by: 'expired' } }])
})

test('a runtime that stops takes no message to a run any more', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  const stopping = t.runtime.stop()
  await expect(t.runtime.runs.steer({ sessionId: t.session.id, expectedRunId: runId, text: 'wait' })).rejects.toThrow(
    code('runtime_stopping'),
  )
  t.executor.last().end()
  await t.clock.advance(10_000)
  await stopping
})

test('what a run has used is told at most once a second, the last word always', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  const use = (outputTokens: number): void =>
    t.executor.last().sink.push({
      kind: 'usage',
      usage: {
        inputTokens: 1,
        cachedInputTokens: null,
        cacheWriteTokens: null,
        outputTokens,
        reasoningTokens: null,
        costUsd: null,
        contextUsed: null,
        contextSize: null,
      },
    })
  for (let n = 1; n <= 20; n++) {
    use(n)
    await t.clock.advance(100)
  }
  const told = (): number[] =>
    t
      .events()
      .flatMap(({ type, data }) =>
        type === 'usage_updated' ? [(data as { usage: { outputTokens: number } }).usage.outputTokens] : [],
      )
  expect(told().length).toBeLessThanOrEqual(3)
  use(99)
  t.executor.last().end()
  await quiet(8)
  expect(told().at(-1)).toBe(99)
  expect(t.rows('SELECT output_tokens FROM run_usage')).toEqual([{ output_tokens: 99 }])
})

test('a number of an agent that no column takes is left out, and the run goes on', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  const usage = { inputTokens: 1e308, cachedInputTokens: -1, cacheWriteTokens: 0.4, outputTokens: 2 ** 63 }
  t.executor.last().sink.push({
    kind: 'usage',
    usage: { ...usage, reasoningTokens: 7, costUsd: 1e308, contextUsed: 0.5, contextSize: null },
  })
  t.executor.last().end()
  await quiet(8)
  expect(t.runtime.runs.get(runId)?.state).toBe('completed')
  expect(
    t.rows('SELECT input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost_micros FROM run_usage'),
  ).toEqual([
    { input_tokens: null, cache_write_tokens: 0, output_tokens: null, reasoning_tokens: 7, cost_micros: null },
  ])
})
