/** Runs that go on elsewhere, with a remote executor that lives as long as the test. */
import { expect, test } from 'vitest'
import { AppError } from '../../../src/shared/errors.ts'
import type { Actor } from '../../../src/shared/vocabulary.ts'
import type {
  DeliveryTransport,
  ExecutionEnd,
  ExecutionSink,
  PermissionDecision,
  RemoteEvidence,
  RemoteRef,
} from '../../../src/main/runtime/index.ts'
import { createTempDir } from '../../support/dir.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime, TestRuntimeOptions } from './support/runtime.ts'
import { createFakeExecutor } from './support/fake-executor.ts'

const window: Actor = { via: 'window', connection: 'w' }
const EVIDENCE: RemoteEvidence = {
  driver: 'cloud',
  remoteId: 'r-1',
  state: 'working',
  terminal: false,
  canCancel: true,
  cursor: 'c1',
}

/** What goes on elsewhere: it outlives each runtime that attaches to it. */
function createElsewhere() {
  const attached: { ref: RemoteRef; sink: ExecutionSink; kills: number; end(end?: Partial<ExecutionEnd>): void }[] = []
  const answers: { requestId: string; decision: PermissionDecision }[] = []
  const cancelled: RemoteRef[] = []
  const self = {
    attached,
    answers,
    cancelled,
    refuse: null as AppError | null,
    last() {
      const found = attached.at(-1)
      if (found === undefined) throw new Error('nobody attached')
      return found
    },
    executor: () => ({
      ...createFakeExecutor(),
      async attach(ref: RemoteRef, sink: ExecutionSink) {
        if (self.refuse !== null) throw self.refuse
        const ended = Promise.withResolvers<ExecutionEnd>()
        const one = { ref, sink, kills: 0, end: (end = {}) => ended.resolve({ outcome: 'completed', ...end }) }
        attached.push(one)
        return {
          workerRef: 'elsewhere',
          ended: ended.promise,
          answer: async (requestId: string, decision: PermissionDecision) => void answers.push({ requestId, decision }),
          cancel: async () => one.end({ outcome: 'cancelled' }),
          async kill() {
            one.kills++
            return 'gone' as const
          },
        }
      },
      async cancelRemote(ref: RemoteRef) {
        if (self.refuse !== null) throw self.refuse
        cancelled.push(ref)
      },
    }),
  }
  return self
}

type Elsewhere = ReturnType<typeof createElsewhere>

async function instance(elsewhere: Elsewhere, options: TestRuntimeOptions): Promise<TestRuntime> {
  const executor = elsewhere.executor()
  const t = await createTestRuntime({ ...options, deps: { executor, ...options.deps } })
  return { ...t, executor }
}

/** The owner is gone, without a word: its lease is given free as that of a dead process would be. */
function ownerDies(t: TestRuntime): void {
  t.store.db.exec(`UPDATE leases SET state = 'released'`)
}

const stateOf = (t: TestRuntime, sessionId: string) => t.runtime.sessions.inspect(sessionId)

test('RT-A71 a remote run outlives its owner: its question can be answered meanwhile, and reattached it is handed over once', async () => {
  using dir = createTempDir()
  const elsewhere = createElsewhere()
  await using owner = await instance(elsewhere, { dir: dir.path })
  const { id: sessionId } = owner.session
  const { runId } = await owner.submit()
  await quiet(8)
  owner.executor.last().text('Begun. ')
  owner.executor.last().sink.push({ kind: 'remote', ...EVIDENCE })
  owner.executor.last().ask()
  await quiet(8)
  await owner.clock.advance(200)
  expect(owner.types()).toContain('run_remote')
  ownerDies(owner)

  elsewhere.refuse = new AppError('upstream_unreachable', 'Not now.')
  await using next = await instance(elsewhere, { dir: dir.path, namespace: 1 })
  expect(stateOf(next, sessionId)).toMatchObject({
    state: 'detached_remote',
    recoveryAction: 'reattach_remote',
    running: true,
    canSubmit: false,
    canCancelRemote: true,
    remoteDriver: 'cloud',
    ownerScope: 'remote',
  })
  await expect(next.runtime.recovery.scanNow()).resolves.toMatchObject({ kept: 1, failed: 0 })
  expect(stateOf(next, sessionId)).toMatchObject({ state: 'detached_remote', recoveryLastError: expect.any(String) })
  await expect(next.runtime.runs.submit({ sessionId, text: 'more', source: 'desktop' })).rejects.toMatchObject({
    code: 'detached_remote_execution',
  })
  const [pending] = next.runtime.decisions.pending(sessionId)
  const answer = { option: 'allow_once' as const }
  await expect(next.runtime.decisions.resolve({ decisionId: pending?.id ?? '', answer, by: window })).resolves.toEqual({
    kind: 'resolved',
  })
  expect(elsewhere.answers).toEqual([])

  elsewhere.refuse = null
  next.clock.jumpWall(60_000)
  await expect(next.runtime.recovery.scanNow()).resolves.toMatchObject({ kept: 1 })
  await quiet(8)
  expect(elsewhere.last().ref).toEqual({
    sessionId,
    runId,
    driver: 'cloud',
    remoteId: 'r-1',
    state: 'working',
    cursor: 'c1',
  })
  expect(elsewhere.answers).toEqual([{ requestId: 'r1', decision: { allow: true, by: 'person', reason: null } }])
  expect(stateOf(next, sessionId)).toMatchObject({ state: 'local', leasePurpose: 'execution' })
  expect(next.runtime.runs.get(runId).state).toBe('running')

  elsewhere.last().sink.push({ kind: 'answer_told', requestId: 'r1', how: 'sent' })
  elsewhere.last().sink.push({ kind: 'output', messageId: 'm1', text: 'Done.' })
  elsewhere.last().end()
  await quiet(8)
  expect(next.runtime.runs.get(runId)).toMatchObject({ state: 'completed', error: null })
  expect(next.rows(`SELECT json_extract(body, '$.text') AS text FROM entries WHERE kind = 'assistant'`)).toEqual([
    { text: 'Begun. Done.' },
  ])
  expect(elsewhere.answers).toHaveLength(1)
})

test('RT-A71 a source that looks remote is no proof: without its row the run is lost', async () => {
  using dir = createTempDir()
  const elsewhere = createElsewhere()
  await using owner = await instance(elsewhere, { dir: dir.path })
  const { runId } = await owner.submit()
  await quiet(8)
  ownerDies(owner)
  owner.store.db.exec(`UPDATE runs SET executor = 'remote', source = 'acp'`)
  await using next = await instance(elsewhere, { dir: dir.path, namespace: 1 })
  await next.runtime.recovery.scanNow()
  expect(next.runtime.runs.get(runId)).toMatchObject({ state: 'failed', error: { code: 'owner_lost' } })
  expect(elsewhere.attached).toEqual([])
})

test('RT-A71 a question that belongs to another session is not taken up', async () => {
  using dir = createTempDir()
  const elsewhere = createElsewhere()
  await using owner = await instance(elsewhere, { dir: dir.path })
  await owner.submit()
  await quiet(8)
  owner.executor.last().sink.push({ kind: 'remote', ...EVIDENCE })
  owner.executor.last().ask()
  await quiet(8)
  await owner.clock.advance(200)
  ownerDies(owner)
  await using next = await instance(elsewhere, { dir: dir.path, namespace: 1 })
  next.store.db.prepare('UPDATE decisions SET session_id = ?').run(next.session.id)
  await next.runtime.recovery.scanNow()
  await quiet(8)
  expect(elsewhere.answers).toEqual([])
  expect(next.runtime.sessions.briefs([owner.session.id])).toMatchObject([
    { ended: { state: 'failed', errorCode: 'decision_identity_conflict' } },
  ])
})

test('a stop asks what goes on elsewhere once, and says so where it cannot', async () => {
  using dir = createTempDir()
  const elsewhere = createElsewhere()
  await using owner = await instance(elsewhere, { dir: dir.path })
  const { id: sessionId } = owner.session
  await owner.submit()
  await quiet(8)
  owner.executor.last().sink.push({ kind: 'remote', ...EVIDENCE })
  await quiet(8)
  await owner.clock.advance(200)
  ownerDies(owner)
  await using next = await instance(elsewhere, { dir: dir.path, namespace: 1 })
  const stop = async (): Promise<string> => (await next.runtime.runs.stop({ sessionId })).code
  elsewhere.refuse = new AppError('upstream_unreachable', 'Not now.')
  expect(await stop()).toBe('remote_stop_failed')
  elsewhere.refuse = new AppError('remote_stop_unsupported', 'It cannot be stopped.')
  expect(await stop()).toBe('remote_stop_unsupported')
  elsewhere.refuse = null
  expect(await stop()).toBe('remote_stop_accepted')
  expect(elsewhere.cancelled).toMatchObject([{ remoteId: 'r-1' }])
  expect(stateOf(next, sessionId).canCancelRemote).toBe(false)
  expect(await stop()).toBe('remote_stop_unsupported')
})

test('a remote run whose end is known gets that end, with what was heard of it', async () => {
  using dir = createTempDir()
  const elsewhere = createElsewhere()
  await using owner = await instance(elsewhere, { dir: dir.path })
  const { id: sessionId } = owner.session
  const { runId } = await owner.submit()
  await quiet(8)
  owner.executor.last().text('All of it.')
  owner.executor.last().sink.push({ kind: 'remote', ...EVIDENCE, state: 'completed', terminal: true })
  await quiet(8)
  await owner.clock.advance(200)
  ownerDies(owner)
  await using next = await instance(elsewhere, { dir: dir.path, namespace: 1 })
  expect(stateOf(next, sessionId)).toMatchObject({ phase: 'recovering', recoveryAction: 'finalize_remote' })
  expect((await next.runtime.runs.stop({ sessionId })).code).toBe('recovery_started')
  await next.runtime.recovery.scanNow()
  expect(next.runtime.runs.get(runId)).toMatchObject({ state: 'completed', error: null })
  expect(next.rows(`SELECT json_extract(body, '$.text') AS text FROM entries WHERE kind = 'assistant'`)).toEqual([
    { text: 'All of it.' },
  ])
})

test('a runtime that closes lets go of what goes on elsewhere: neither stopped nor ended', async () => {
  using dir = createTempDir()
  const elsewhere = createElsewhere()
  const owner = await instance(elsewhere, { dir: dir.path })
  const { id: sessionId } = owner.session
  const { runId } = await owner.submit()
  await quiet(8)
  const run = owner.executor.last()
  run.sink.push({ kind: 'remote', ...EVIDENCE })
  await quiet(8)
  await owner.clock.advance(200)
  await owner[Symbol.asyncDispose]()
  expect([run.cancels, run.kills]).toEqual([0, 0])
  await using next = await instance(elsewhere, { dir: dir.path, namespace: 1 })
  expect(stateOf(next, sessionId)).toMatchObject({ state: 'detached_remote', activeRun: { runId, state: 'running' } })
})

test('RT-A21 an ended run is reopened only on proof that it goes on, three times, and nothing is delivered twice', async () => {
  using dir = createTempDir()
  const elsewhere = createElsewhere()
  const sent: string[] = []
  const transport: DeliveryTransport = {
    id: 'memory',
    capability: { text: true, image: false, file: false, video: false },
    isIdempotent: () => true,
    execute: async ({ payload }) => {
      sent.push(payload)
      return { status: 'delivered' }
    },
  }
  const deliveries = {
    transports: [transport],
    targets: () => [{ transport: 'memory', targetId: 'main', context: {} }],
  }
  await using t = await instance(elsewhere, { dir: dir.path, deps: { deliveries } })
  const { id: sessionId } = t.session
  const { runId } = await t.submit()
  await quiet(8)
  t.executor.last().text('First. ')
  t.executor.last().end({ outcome: 'incomplete', stopReason: 'max_tokens' })
  await quiet(8)
  await t.clock.advance(200)
  await t.runtime.deliveries.reconcile()
  expect(sent).toEqual(['First. '])

  const refused = { code: 'run_transition_invalid' }
  await expect(t.runtime.recovery.reopen({ runId, evidence: null })).rejects.toMatchObject(refused)
  const ended: RemoteEvidence = { ...EVIDENCE, terminal: true }
  await expect(t.runtime.recovery.reopen({ runId, evidence: ended })).rejects.toMatchObject(refused)
  for (let count = 1; count <= 3; count++) {
    await t.runtime.recovery.reopen({ runId, evidence: EVIDENCE })
    expect(t.runtime.runs.get(runId)).toMatchObject({ state: 'running', reopenCount: count, error: null })
    expect(t.rows('SELECT status, end_seq FROM turns')).toEqual([{ status: 'open', end_seq: null }])
    await expect(t.runtime.recovery.reopen({ runId, evidence: EVIDENCE })).rejects.toMatchObject({
      code: 'session_run_active',
    })
    await t.runtime.recovery.scanNow()
    await quiet(8)
    expect(stateOf(t, sessionId).state).toBe('local')
    elsewhere.last().sink.push({ kind: 'output', messageId: `m${count + 1}`, text: `Part ${count}.` })
    elsewhere.last().end({ outcome: 'incomplete' })
    await quiet(8)
    await t.clock.advance(200)
    expect(t.runtime.runs.get(runId)).toMatchObject({ state: 'incomplete', error: { code: 'run_incomplete' } })
  }
  await t.runtime.deliveries.reconcile()
  expect(sent).toHaveLength(1)
  await expect(t.runtime.recovery.reopen({ runId, evidence: EVIDENCE })).rejects.toMatchObject(refused)
  const types = t.types()
  expect(types.filter((type) => type === 'run_reopened running')).toHaveLength(3)
  expect(types.filter((type) => type === 'run_finished incomplete')).toHaveLength(4)
  expect((await t.runtime.runs.view(runId)).run).toMatchObject({ state: 'incomplete', finishedAt: expect.any(Number) })
})

test('RT-A21 a run that was completed, or has a newer attempt, stays ended', async () => {
  const elsewhere = createElsewhere()
  await using t = await instance(elsewhere, {})
  const first = await t.submit()
  await quiet(8)
  t.executor.last().end()
  await quiet(8)
  const refused = { code: 'run_transition_invalid' }
  await expect(t.runtime.recovery.reopen({ runId: first.runId, evidence: EVIDENCE })).rejects.toMatchObject(refused)
  const second = await t.submit({ text: 'more' })
  await quiet(8)
  t.executor.last().end({ outcome: 'failed' })
  await quiet(8)
  await t.runtime.runs.retry({ runId: second.runId, source: 'desktop' })
  await quiet(8)
  t.executor.last().end()
  await quiet(8)
  await expect(t.runtime.recovery.reopen({ runId: second.runId, evidence: EVIDENCE })).rejects.toMatchObject(refused)
})

test('RT-A21 what a first end planned and nobody tried is planned anew by the next end', async () => {
  const elsewhere = createElsewhere()
  const sent: string[] = []
  let isOpen = false
  const transport: DeliveryTransport = {
    id: 'memory',
    capability: { text: true, image: false, file: false, video: false },
    isIdempotent: () => true,
    execute: async ({ payload }) => {
      sent.push(payload)
      return { status: 'delivered' }
    },
  }
  const deliveries = {
    transports: [transport],
    targets: () => (isOpen ? [{ transport: 'memory', targetId: 'main', context: {} }] : []),
  }
  await using t = await instance(elsewhere, { deps: { deliveries } })
  isOpen = true
  const { runId } = await t.submit()
  await quiet(8)
  t.executor.last().text('First.')
  // Nobody carries yet: what is planned waits, untried.
  t.store.db.exec(`CREATE TRIGGER wait_for_it AFTER INSERT ON delivery_operations BEGIN
    UPDATE delivery_operations SET next_attempt_at = 9e15 WHERE id = NEW.id; END`)
  t.executor.last().end({ outcome: 'incomplete' })
  await quiet(8)
  await t.clock.advance(200)
  expect([sent, t.count('delivery_operations')]).toEqual([[], 1])
  await t.runtime.recovery.reopen({ runId, evidence: EVIDENCE })
  expect(t.count('delivery_operations')).toBe(0)
  t.store.db.exec('DROP TRIGGER wait_for_it')
  await t.runtime.recovery.scanNow()
  await quiet(8)
  elsewhere.last().sink.push({ kind: 'output', messageId: 'm2', text: 'Second.' })
  elsewhere.last().end()
  await quiet(8)
  await t.clock.advance(200)
  await t.runtime.deliveries.reconcile()
  expect(sent).toEqual(['First.\n\nSecond.'])
})
