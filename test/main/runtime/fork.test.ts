import { expect, test } from 'vitest'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime, TestRuntimeOptions } from './support/runtime.ts'

const code = (expected: string) => expect.objectContaining({ code: expected })

/** A session with a turn per text, each answered with its own words. */
async function conversation(texts: readonly string[], options: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const t = await createTestRuntime(options)
  for (const text of texts) {
    await t.submit({ text })
    await quiet()
    t.executor.last().sink.push({
      kind: 'tool',
      phase: 'finished',
      toolCallId: 't1',
      tool: 'read',
      name: 'Read',
      title: 'Read a file',
      status: 'completed',
      paths: [],
      content: [{ type: 'text', text: 'its words' }],
    })
    t.executor.last().text(`answer to ${text}`)
    t.executor.last().end()
    await t.clock.advance(10)
  }
  return t
}

const answers = (t: TestRuntime): number[] =>
  (t.rows(`SELECT seq FROM entries WHERE kind = 'assistant' ORDER BY seq`) as { seq: number }[]).map(({ seq }) => seq)

test('RT-A73 the same request is the same fork, even while the source runs again; another boundary is refused', async () => {
  await using t = await conversation(['one', 'two'])
  const request = { sourceId: t.session.id, requestId: 'r' }
  const first = await t.runtime.sessions.fork(request)
  await t.submit({ text: 'three' })
  await quiet()
  await expect(t.runtime.sessions.fork(request)).resolves.toEqual(first)
  expect(t.count('sessions')).toBe(2)
  await expect(t.runtime.sessions.fork({ ...request, atSeq: 4 })).rejects.toThrow(code('fork_request_conflict'))
})

test('RT-A73 a source that works cannot be forked, nor one in which no turn has ended', async () => {
  await using t = await createTestRuntime()
  const request = { sourceId: t.session.id, requestId: 'r' }
  await expect(t.runtime.sessions.fork(request)).rejects.toThrow(code('fork_no_completed_turn'))
  await t.submit()
  await quiet()
  await expect(t.runtime.sessions.fork(request)).rejects.toThrow(code('fork_source_active'))
})

test('RT-A73 only the last answer of a turn is a boundary', async () => {
  await using t = await conversation(['one'])
  const fork = (atSeq: number) => t.runtime.sessions.fork({ sourceId: t.session.id, requestId: `r${atSeq}`, atSeq })
  const tool = t.rows(`SELECT seq FROM entries WHERE kind = 'tool'`) as { seq: number }[]
  await expect(fork(tool[0]?.seq ?? 0)).rejects.toThrow(code('fork_boundary_unavailable'))
  await expect(fork(2)).rejects.toThrow(code('fork_boundary_unavailable'))
  await expect(fork(0)).rejects.toThrow(code('fork_boundary_invalid'))
  await expect(fork(99)).rejects.toThrow(code('fork_boundary_invalid'))
  await expect(fork(answers(t)[0] ?? 0)).resolves.toMatchObject({ forkKind: 'message' })
})

test('a fork has the words and the set-up of its source up to the boundary, and nothing else of it', async () => {
  await using t = await conversation(['one', 'two'], { title: 'Work (3)' })
  const [first = 0] = answers(t)
  const { sessionId, parentId, prefixLength } = await t.runtime.sessions.fork({
    sourceId: t.session.id,
    requestId: 'r',
    atSeq: first,
  })
  expect(parentId).toBe(t.session.id)
  const child = t.runtime.sessions.get(sessionId)
  expect(child).toMatchObject({ title: 'Work (1)', workDir: t.dir, parentId: t.session.id, agentId: 'claude' })
  expect(t.rows(`SELECT kind, seq FROM entries WHERE session_id = '${sessionId}' ORDER BY seq`)).toEqual([
    { kind: 'turn_start', seq: 1 },
    { kind: 'user', seq: 2 },
    { kind: 'tool', seq: 3 },
    { kind: 'assistant', seq: 4 },
    { kind: 'turn_end', seq: 5 },
  ])
  expect(prefixLength).toBe(5)
  expect(t.rows(`SELECT 1 FROM runs WHERE session_id = '${sessionId}'`)).toEqual([])
  expect(t.types().filter((type) => type === 'session_forked')).toHaveLength(1)
  const { turns } = await t.runtime.sessions.snapshot({ sessionId })
  expect(turns).toMatchObject([
    { prompt: 'one', state: 'completed', items: [{ kind: 'tool' }, { kind: 'text', text: 'answer to one' }] },
  ])
})

test('the first agent of a fork is told what was said; once it took a prompt it remembers by itself', async () => {
  await using t = await conversation(['one', 'two'])
  const { sessionId } = await t.runtime.sessions.fork({ sourceId: t.session.id, requestId: 'r' })
  await t.submit({ sessionId, text: 'and now?' })
  await quiet()
  const history = t.executor.last().spec.history ?? ''
  expect(history.indexOf('User: one')).toBeGreaterThan(0)
  expect(history.indexOf('Assistant: answer to two')).toBeGreaterThan(history.indexOf('User: two'))
  expect(history).not.toContain('and now?')
  t.executor.last().end()
  await t.clock.advance(10)
  await t.submit({ sessionId, text: 'next' })
  await quiet()
  expect(t.executor.last().spec.history).toBeNull()
  const { turns, hasEarlier } = await t.runtime.sessions.snapshot({ sessionId, limit: 3 })
  expect(turns.map(({ prompt }) => prompt)).toEqual(['two', 'and now?', 'next'])
  expect(hasEarlier).toBe(true)
  const earlier = await t.runtime.sessions.snapshot({ sessionId, beforeTurn: turns[0]?.runId ?? '' })
  expect(earlier.turns.map(({ prompt }) => prompt)).toEqual(['one'])
})

test('RT-A82 one session per outside key, which stands nowhere', async () => {
  await using t = await createTestRuntime()
  const make = {
    agentId: 'claude' as const,
    workDir: t.dir,
    createdVia: 'channel' as const,
    binding: { source: 'channel' as const, externalKey: 'chat-4711-secret', label: 'A chat' },
  }
  const { id } = await t.runtime.sessions.create(make)
  await expect(t.runtime.sessions.create(make)).rejects.toMatchObject({
    code: 'binding_taken',
    data: { sessionId: id },
  })
  expect(t.runtime.sessions.get(id)).toMatchObject({ policySource: 'channel' })
  expect(t.runtime.sessions.byExternalKey(make.binding)).toMatchObject({ sessionId: id, label: 'A chat' })
  const tables = t.rows(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'entries_fts%'`)
  for (const { name } of tables as { name: string }[]) {
    expect(JSON.stringify(t.rows(`SELECT * FROM "${name}"`))).not.toContain('chat-4711-secret')
  }
  expect(() => t.runtime.sessions.get(id, { workDir: '/' })).toThrow(code('session_not_found'))
})

test('RT-A82 a session of a schedule is not given to a channel, and letting go leaves the session as it is', async () => {
  await using t = await createTestRuntime()
  const cron = { source: 'cron' as const, externalKey: 'nightly' }
  const channel = { source: 'channel' as const, externalKey: 'chat' }
  const { id } = await t.runtime.sessions.create({
    agentId: 'claude',
    workDir: t.dir,
    createdVia: 'cron',
    binding: cron,
  })
  await expect(t.runtime.sessions.bind(id, channel)).rejects.toThrow(code('source_conflict'))
  await expect(t.runtime.sessions.unbind(id)).resolves.toBe(true)
  await expect(t.runtime.sessions.unbind(id)).resolves.toBe(false)
  expect(t.runtime.sessions.get(id)).toMatchObject({ policySource: 'cron' })
  await expect(t.runtime.sessions.bind(t.session.id, channel)).resolves.toMatchObject({ sessionId: t.session.id })
  await expect(t.runtime.sessions.bind(t.session.id, channel)).resolves.toMatchObject({ source: 'channel' })
  await t.submit()
  await quiet()
  expect(t.executor.last().spec.policy).toMatchObject({ source: 'channel', entrySource: 'desktop', mode: 'yolo' })
})

test('RT-A15 nobody changes a session under its run, nor two at once', async () => {
  await using t = await createTestRuntime()
  const { id } = t.session
  const inside = t.runtime.sessions.hold([id], async () => {
    await expect(t.runtime.sessions.hold([id], async () => 'no')).rejects.toThrow(code('session_busy'))
    await expect(t.submit()).rejects.toThrow(code('session_busy'))
    return 'done'
  })
  await expect(inside).resolves.toBe('done')
  await t.submit()
  await quiet()
  await expect(t.runtime.sessions.hold([id], async () => 'no')).rejects.toThrow(code('session_run_active'))
})

test('a fork at a run ends with its answer, by whichever name the boundary was given', async () => {
  await using t = await conversation(['one', 'two'])
  const [first] = t.runtime.runs.list({ sessionId: t.session.id }).toReversed()
  const request = { sourceId: t.session.id, requestId: 'r' }
  const fork = await t.runtime.sessions.fork({ ...request, atRun: first?.id ?? '' })
  expect(fork).toMatchObject({ forkKind: 'message', prefixLength: 5 })
  await expect(t.runtime.sessions.fork({ ...request, atSeq: answers(t)[0] ?? 0 })).resolves.toEqual(fork)
  await expect(t.runtime.sessions.fork({ ...request, atRun: t.session.id })).rejects.toThrow(
    code('fork_boundary_invalid'),
  )
})
