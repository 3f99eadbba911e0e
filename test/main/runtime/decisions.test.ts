import { SqliteError } from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Actor, Answer } from '../../../src/shared/vocabulary.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime } from './support/runtime.ts'

const window: Actor = { via: 'window', connection: 'w2' }

function only(t: TestRuntime): string {
  const [pending] = t.runtime.decisions.pending(null)
  if (pending === undefined) throw new Error('nothing is pending')
  return pending.id
}

test('RT-A48 an answer is committed first, handed to the agent once, and told to everybody', async () => {
  let committed: unknown = null
  await using t: TestRuntime = await createTestRuntime({
    onAnswer() {
      committed = t.rows('SELECT status FROM decisions')
    },
  })
  const told: string[] = []
  using _watching = t.runtime.changes.subscribe((change) => {
    if (change.kind === 'decision') told.push(change.decisionId)
  })
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().ask()
  await quiet()
  expect(t.runtime.runs.get(runId).state).toBe('waiting_for_approval')
  const decisionId = only(t)
  const answer = { option: 'allow_once' as const }
  await expect(t.runtime.decisions.resolve({ decisionId, answer, by: window })).resolves.toEqual({ kind: 'resolved' })
  await quiet()
  expect(committed).toEqual([{ status: 'resolved' }])
  expect(t.executor.last().answers).toEqual([
    { requestId: 'r1', decision: { allow: true, by: 'person', reason: null } },
  ])
  expect(told).toEqual([decisionId, decisionId])
  expect(t.runtime.runs.get(runId).state).toBe('running')
  expect(t.types().slice(2)).toEqual([
    'decision_requested',
    'run_state waiting_for_approval',
    'decision_resolved',
    'run_state running',
  ])
})

test('RT-A48 the word that the answer arrived is kept once', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  t.executor.last().ask()
  await quiet()
  await t.runtime.decisions.resolve({ decisionId: only(t), answer: { option: 'allow_once' }, by: window })
  await quiet()
  for (let times = 0; times < 2; times++) {
    t.executor.last().sink.push({ kind: 'answer_told', requestId: 'r1', how: 'sent' })
    await t.clock.advance(150)
  }
  expect(t.rows('SELECT told, applied_at IS NULL AS open FROM decisions')).toEqual([{ told: 'sent', open: 0 }])
  expect(t.types().filter((type) => type === 'decision_told')).toHaveLength(1)
})

test('the second answer learns who was faster, and an answer that is not offered is refused', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  t.executor.last().ask()
  await quiet()
  const decisionId = only(t)
  await expect(t.runtime.decisions.resolve({ decisionId, answer: { text: 'yes' }, by: window })).rejects.toMatchObject({
    code: 'decision_value_invalid',
  })
  await t.runtime.decisions.resolve({ decisionId, answer: { option: 'reject_once', reason: 'no' }, by: window })
  await expect(
    t.runtime.decisions.resolve({
      decisionId,
      answer: { option: 'allow_once' },
      by: { via: 'tray', connection: null },
    }),
  ).resolves.toMatchObject({ kind: 'already_resolved', answer: { option: 'reject_once' }, by: window })
  await quiet()
  expect(t.executor.last().answers).toEqual([
    { requestId: 'r1', decision: { allow: false, by: 'person', reason: 'no' } },
  ])
  await expect(
    t.runtime.decisions.resolve({ decisionId: 'none', answer: { option: 'allow_once' }, by: window }),
  ).rejects.toMatchObject({ code: 'decision_not_found' })
})

const COLOURS = {
  text: '',
  fields: [
    {
      id: 'colour',
      label: 'Which?',
      kind: 'choice' as const,
      options: ['Red', 'Blue'].map((label) => ({ label, description: '' })),
      other: false,
      required: true,
    },
  ],
}

function askInWords(t: TestRuntime, requestId: string): void {
  const request = { requestId, toolCallId: '', title: 'Which?', form: COLOURS }
  t.executor.last().sink.push({ kind: 'question', request })
}

test('RT-A55 a question waits beside an approval, is answered once and fittingly, and the run goes on', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().ask()
  askInWords(t, 'q1')
  askInWords(t, 'q1')
  await quiet()
  const { decisions, runs } = t.runtime
  expect(runs.get(runId).state).toBe('waiting_for_approval')
  const [approval, question, ...more] = decisions.pending(null)
  if (approval === undefined || question === undefined) throw new Error('too little is pending')
  expect(more).toEqual([])
  expect(question).toMatchObject({ kind: 'question', risk: null, action: { kind: 'question', form: COLOURS } })
  await decisions.resolve({ decisionId: approval.id, answer: { option: 'allow_once' }, by: window })
  await quiet()
  expect(runs.get(runId).state).toBe('waiting_for_question')
  const resolve = (answer: Answer) => decisions.resolve({ decisionId: question.id, answer, by: window })
  for (const answer of [
    { form: { colour: 'Green' } },
    { form: {} },
    { text: 'green' },
    { option: 'allow_once' as const },
  ]) {
    await expect(resolve(answer)).rejects.toMatchObject({ code: 'decision_value_invalid' })
  }
  // In words, as from a command line, it is the same answer.
  await expect(resolve({ text: 'blue' })).resolves.toEqual({ kind: 'resolved' })
  await expect(resolve({ form: { colour: 'Red' } })).resolves.toMatchObject({
    kind: 'already_resolved',
    answer: { form: { colour: 'Blue' } },
  })
  await quiet()
  expect(t.executor.last().answers.at(-1)).toEqual({
    requestId: 'q1',
    decision: { allow: true, by: 'person', reason: null, form: { colour: 'Blue' } },
  })
  expect(runs.get(runId).state).toBe('running')
})

test('RT-A53 a question that is left unanswered, or whose run is stopped, is a no', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  askInWords(t, 'q1')
  await quiet()
  expect(t.runtime.runs.get(runId).state).toBe('waiting_for_question')
  await t.runtime.decisions.resolve({ decisionId: only(t), answer: { option: 'reject_once' }, by: window })
  askInWords(t, 'q2')
  await quiet()
  expect(t.runtime.decisions.pending(null)).toHaveLength(1)
  await t.runtime.runs.stop({ sessionId: t.session.id, expectedRunId: runId })
  await quiet()
  expect(t.executor.last().answers).toMatchObject([
    { requestId: 'q1', decision: { allow: false, by: 'person' } },
    { requestId: 'q2', decision: { allow: false, by: 'cancelled' } },
  ])
  expect(t.executor.last().answers.some(({ decision }) => 'form' in decision)).toBe(false)
})

test('RT-A50 an answer that cannot be saved leaves the question open, and the next one works', async () => {
  let broken = false
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  t.executor.last().ask()
  await quiet()
  const decisionId = only(t)
  t.store.db.function('refuse_when_broken', () => {
    if (broken) throw new SqliteError('disk I/O error', 'SQLITE_IOERR')
    return null
  })
  t.store.db.exec(`CREATE TEMP TRIGGER refuse BEFORE UPDATE ON decisions BEGIN SELECT refuse_when_broken(); END`)
  broken = true
  const answer = { decisionId, answer: { option: 'allow_once' as const }, by: window }
  await expect(t.runtime.decisions.resolve(answer)).rejects.toMatchObject({ code: 'persistence_failed' })
  await quiet()
  expect(t.executor.last().answers).toEqual([])
  expect(only(t)).toBe(decisionId)
  broken = false
  await expect(t.runtime.decisions.resolve(answer)).resolves.toEqual({ kind: 'resolved' })
  await quiet()
  expect(t.executor.last().answers).toHaveLength(1)
})

test('RT-A52 nobody answers an unattended run for 10 min: the question times out as a no, and the run goes on', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit({ source: 'cron' })
  await quiet()
  t.executor.last().ask()
  await quiet()
  await t.clock.advance(10 * 60_000)
  expect(t.rows('SELECT status, value FROM decisions')).toEqual([
    { status: 'timed_out', value: '{"option":"reject_once"}' },
  ])
  expect(t.executor.last().answers).toMatchObject([{ decision: { allow: false, by: 'expired' } }])
  expect(t.runtime.runs.get(runId).state).toBe('running')
})

test('RT-A53 a stop settles what is pending with the end, and tells so before it', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().ask()
  t.executor.last().ask({ requestId: 'r2', toolCallId: 't2' })
  await quiet()
  expect(t.runtime.decisions.pending(t.session.id)).toHaveLength(2)
  await t.runtime.runs.stop({ sessionId: t.session.id })
  await quiet()
  expect(t.rows('SELECT DISTINCT status FROM decisions')).toEqual([{ status: 'cancelled' }])
  expect(t.types().slice(-3)).toEqual(['decision_resolved', 'decision_resolved', 'run_finished cancelled'])
  expect(t.runtime.runs.get(runId).state).toBe('cancelled')
})

test('RT-A85 an agent that waits for an answer gets a no when it is stopped, and nobody can answer any more', async () => {
  await using t = await createTestRuntime({ onCancel: () => undefined })
  await t.submit()
  await quiet()
  t.executor.last().ask()
  await quiet()
  const decisionId = only(t)
  await t.runtime.runs.stop({ sessionId: t.session.id })
  await quiet()
  expect(t.executor.last().answers).toEqual([
    { requestId: 'r1', decision: { allow: false, by: 'cancelled', reason: null } },
  ])
  await expect(
    t.runtime.decisions.resolve({ decisionId, answer: { option: 'allow_once' }, by: window }),
  ).rejects.toMatchObject({ code: 'run_ending' })
  t.executor.last().end({ outcome: 'cancelled' })
  await quiet()
  expect(t.executor.last().kills).toBe(0)
  expect(t.rows('SELECT status FROM decisions')).toEqual([{ status: 'cancelled' }])
})

test('RT-A55 a low-risk command is answered by policy, on record and without waiting', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().ask({ action: { kind: 'command', command: 'ls', cwd: t.dir, wrapper: null } })
  await quiet()
  expect(t.executor.last().answers).toMatchObject([{ decision: { allow: true, by: 'policy' } }])
  expect(t.rows('SELECT status, applied_at FROM decisions')).toEqual([{ status: 'resolved', applied_at: null }])
  expect(t.runtime.runs.get(runId).state).toBe('running')
  expect(t.types().slice(2)).toEqual(['decision_requested', 'decision_resolved'])
})

test('a read that policy allows is no decision, but the tool says why it passed', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  t.executor.last().ask({
    kind: 'read',
    tool: 'Read',
    locations: [`${t.dir}/a.txt`],
    action: { kind: 'other', text: 'a.txt' },
  })
  await quiet()
  expect(t.executor.last().answers).toMatchObject([{ decision: { allow: true, by: 'policy' } }])
  expect(t.count('decisions')).toBe(0)
  t.executor.last().sink.push({
    kind: 'tool',
    phase: 'finished',
    toolCallId: 't1',
    tool: 'read',
    name: 'Read',
    title: 'a.txt',
    status: 'completed',
    paths: [],
    content: [],
  })
  await quiet()
  expect(t.events().at(-1)?.data).toMatchObject({ allowedBy: { ruleId: null } })
})

test('a question that the agent takes back is withdrawn, and the run goes on', async () => {
  await using t = await createTestRuntime()
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().ask()
  t.executor.last().sink.push({ kind: 'permission_withdrawn', requestId: 'r1', why: 'agent' })
  await quiet()
  expect(t.rows('SELECT status, answered_by FROM decisions')).toEqual([
    { status: 'withdrawn', answered_by: '{"via":"agent","connection":null}' },
  ])
  expect(t.executor.last().answers).toEqual([])
  expect(t.runtime.runs.get(runId).state).toBe('running')
})

test('an answer for the session is asked no more for this very command', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  const action = { kind: 'command' as const, command: 'rm -i notes.txt', cwd: t.dir, wrapper: null }
  t.executor.last().ask({ action })
  await quiet()
  const [row] = t.runtime.decisions.pending(null)
  expect(row?.options).toContain('allow_session')
  await t.runtime.decisions.resolve({ decisionId: only(t), answer: { option: 'allow_session' }, by: window })
  await quiet()
  expect(t.runtime.rules.list()).toMatchObject([
    { matchKind: 'command_exact', pattern: 'rm -i notes.txt', folder: t.dir, effect: 'allow' },
  ])
  t.executor.last().ask({ action, requestId: 'r2' })
  await quiet()
  expect(t.runtime.decisions.pending(null)).toEqual([])
  expect(t.executor.last().answers.at(-1)).toMatchObject({ requestId: 'r2', decision: { allow: true, by: 'policy' } })
})

test('a run has at most 32 questions open; the next is a no at once', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  for (let n = 1; n <= 33; n++) t.executor.last().ask({ requestId: `r${n}`, toolCallId: `t${n}` })
  await quiet(60)
  expect(t.runtime.decisions.pending(null)).toHaveLength(32)
  expect(t.executor.last().answers).toEqual([
    { requestId: 'r33', decision: { allow: false, by: 'policy', reason: 'too_many_decisions' } },
  ])
})

test('an action that is too long for its card is kept whole and can be paged to its end', async () => {
  await using t = await createTestRuntime()
  await t.submit()
  await quiet()
  const command = `echo ${'å"'.repeat(40_000)} # end`
  t.executor.last().ask({ action: { kind: 'command', command, cwd: t.dir, wrapper: null } })
  await quiet()
  const decisionId = only(t)
  expect(t.events().at(-2)?.data).toMatchObject({ wholeBytes: Buffer.byteLength(command) })
  let text = ''
  for (let next: number | null = 0; next !== null;) {
    const page = await t.runtime.decisions.preview(decisionId, next)
    text += page.text
    next = page.next
  }
  expect(text).toBe(command)
  expect(t.rows('SELECT octet_length(payload) <= 32768 AS fits FROM decisions')).toEqual([{ fits: 1 }])
  expect(t.types()).toContain('decision_requested')
})

test('an answer that cannot be handed over fails the run after three tries', async () => {
  await using t = await createTestRuntime({
    onAnswer() {
      throw new Error('the pipe is gone')
    },
  })
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().ask()
  await quiet()
  await t.runtime.decisions.resolve({ decisionId: only(t), answer: { option: 'allow_once' }, by: window })
  await t.clock.advance(3_000)
  expect(t.runtime.runs.get(runId)).toMatchObject({ state: 'failed', error: { code: 'decision_undeliverable' } })
})

test('RT-A54 what was open at an instant can be asked for: before, between, after, and past the expiry', async () => {
  await using t = await createTestRuntime()
  const { id: sessionId } = t.session
  await t.submit({ source: 'cron' })
  await quiet()
  const start = t.clock.nowMs()
  await t.clock.advance(1_000)
  t.executor.last().ask()
  await quiet()
  const decisionId = only(t)
  const open = (atMs: number): string[] => t.runtime.decisions.replayAt(sessionId, atMs).map(({ id }) => id)
  expect(open(start)).toEqual([])
  expect(open(start + 1_500)).toEqual([decisionId])
  expect(open(start + 1_000 + 10 * 60_000)).toEqual([])
  await t.clock.advance(1_000)
  await t.runtime.decisions.resolve({ decisionId, answer: { option: 'reject_once' }, by: window })
  expect(open(start + 1_500)).toEqual([decisionId])
  expect(open(start + 2_500)).toEqual([])
})
