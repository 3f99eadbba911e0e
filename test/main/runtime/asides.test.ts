import { expect, test } from 'vitest'
import type { AsideUpdate } from '../../../src/main/runtime/index.ts'
import { permission } from './support/fake-executor.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime } from './support/runtime.ts'

const code = (expected: string) => expect.objectContaining({ code: expected })

function tables(t: TestRuntime): string[] {
  const found = t.rows(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`)
  return (found as { name: string }[]).map(({ name }) => name)
}

/** Starts look at folders first, which takes its own time. */
async function started(t: TestRuntime, count: number): Promise<void> {
  await expect.poll(() => t.executor.runs.length).toBe(count)
}

function ask(t: TestRuntime, text = 'what is this?', signal?: AbortSignal) {
  const updates: AsideUpdate[] = []
  const answer = t.runtime.runs.aside({ sessionId: t.session.id, text }, (update) => updates.push(update), signal)
  return { updates, answer }
}

test('RT-A79 a question beside a run is answered, changes nothing and leaves nothing', async () => {
  await using t = await createTestRuntime()
  await t.submit({ text: 'long work' })
  await quiet()
  const work = t.executor.last()
  const counts = () => tables(t).map((table) => [table, t.count(table)])
  const before = counts()
  const head = t.runtime.sessions.get(t.session.id).headSeq

  const { updates, answer } = ask(t)
  await started(t, 2)
  const aside = t.executor.last()
  expect(aside).not.toBe(work)
  expect(aside.spec).toMatchObject({ aside: true, policy: { mode: 'plan', sandbox: 'read_only' } })
  const change = { path: `${t.dir}/a`, oldText: null, newText: 'x' }
  aside.ask({ requestId: 'edit', kind: 'edit', action: { kind: 'edit', changes: [change] } })
  aside.ask({ requestId: 'run' })
  aside.ask({
    ...permission(),
    requestId: 'look',
    kind: 'read',
    locations: [`${t.dir}/a`],
    action: { kind: 'other', text: '' },
  })
  await quiet()
  expect(aside.answers.map(({ requestId, decision }) => [requestId, decision.allow])).toEqual([
    ['edit', false],
    ['run', false],
    ['look', true],
  ])
  aside.sink.push({ kind: 'artifact', path: 'a' })
  aside.text('This is ')
  aside.text('a test.')
  aside.end()
  await expect(answer).resolves.toEqual({ outcome: 'completed', text: 'This is a test.', error: null })
  expect(updates.map(({ kind }) => kind)).toEqual(['output', 'output'])
  await t.clock.advance(1_000)
  expect(counts()).toEqual(before)
  expect(t.runtime.sessions.get(t.session.id).headSeq).toBe(head)
  expect(t.runtime.sessions.inspect(t.session.id).running).toBe(true)
})

test('RT-A79 one question a session, and four at once', async () => {
  await using t = await createTestRuntime()
  const leave = new AbortController()
  const sessions = [t.session.id]
  for (let n = 0; n < 4; n++) {
    sessions.push((await t.runtime.sessions.create({ agentId: 'claude', workDir: t.dir, createdVia: 'desktop' })).id)
  }
  const start = (sessionId: string) => t.runtime.runs.aside({ sessionId, text: '?' }, () => undefined, leave.signal)
  const running = sessions.slice(0, 4).map((sessionId) => start(sessionId).catch((error: unknown) => error))
  await started(t, 4)
  await expect(start(t.session.id)).rejects.toThrow(code('aside_busy'))
  await expect(start(sessions[4] ?? '')).rejects.toThrow(code('aside_busy'))
  leave.abort(new Error('left'))
  await Promise.all(running)
  expect(t.executor.runs.map(({ kills }) => kills)).toEqual([1, 1, 1, 1])
})

test('RT-A79 the agent of a question is gone when its asker leaves', async () => {
  await using t = await createTestRuntime()
  const leave = new AbortController()
  const { answer } = ask(t, '?', leave.signal)
  await started(t, 1)
  leave.abort(new Error('left'))
  await expect(answer).rejects.toThrow('left')
  expect(t.executor.last().kills).toBe(1)
})

test('a question that takes over five minutes ends as such', async () => {
  await using t = await createTestRuntime()
  const { answer } = ask(t)
  await started(t, 1)
  t.executor.last().text('so far')
  await t.clock.advance(5 * 60_000)
  await expect(answer).resolves.toMatchObject({ outcome: 'failed', text: 'so far', error: { code: 'run_timed_out' } })
  expect(t.executor.last().kills).toBe(1)
})

test('a question is told what was said before, and a start that fails is its end', async () => {
  let fails = false
  await using t = await createTestRuntime({
    onStart() {
      if (fails) throw new Error('no')
    },
  })
  await t.submit({ text: 'first' })
  await quiet()
  t.executor.last().text('answer')
  t.executor.last().end()
  await t.clock.advance(10)
  const { answer } = ask(t)
  await started(t, 2)
  expect(t.executor.last().spec.history).toContain('Assistant: answer')
  t.executor.last().end()
  await answer
  fails = true
  await expect(ask(t).answer).resolves.toMatchObject({ outcome: 'failed', error: { code: 'run_failed' } })
})

test('a stop takes the agents of questions away', async () => {
  const t = await createTestRuntime()
  const { answer } = ask(t)
  const refused = answer.catch((error: unknown) => error)
  await started(t, 1)
  await t[Symbol.asyncDispose]()
  expect(await refused).toMatchObject({ code: 'runtime_stopping' })
  expect(t.executor.last().kills).toBe(1)
})
