import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/shared/errors.ts'
import { createWorkerLedger } from '../../../src/main/executor/ledger.ts'
import type { ExchangeRecord } from '../../../src/main/providers/index.ts'
import { WorkerError } from '../../../src/main/workers/index.ts'
import { settled } from '../../support/clock.ts'
import { createBench, createSink, HELD, never, specOf } from './support.ts'
import type { ExecutorBench } from './support.ts'

let bench: ExecutorBench

beforeEach(async () => {
  bench = await createBench()
})
afterEach(() => bench[Symbol.dispose]())

/** One prompt on a session, to its end. */
async function prompt(sessionId: string, more: Parameters<typeof specOf>[1] = {}) {
  const sink = createSink()
  const execution = await bench.executor.start(specOf(sessionId, more), sink, never)
  const worker = bench.workers.find(({ workerId }) => workerId === execution.workerRef)
  worker?.end({})
  return { end: await execution.ended, sink, worker, workerRef: execution.workerRef }
}

const open = () => bench.rows(`SELECT worker_id FROM worker_records WHERE state IN ('starting','live','held')`)
const policyOf = (more: object) => ({ policy: { ...specOf('a').policy, ...more } })

describe('a warm worker', () => {
  test('takes the next prompt of its session, without a process, a route or a record', async () => {
    const first = await prompt('a')
    const before = bench.rows('SELECT * FROM worker_records')
    const second = await prompt('a')
    expect(second.workerRef).toBe(first.workerRef)
    expect(bench.workers.map(({ prompts }) => prompts)).toEqual([['Hello.', 'Hello.']])
    expect(bench.rows('SELECT * FROM worker_records')).toEqual(before)
  })

  test('is told of as accepted before the prompt leaves', async () => {
    const sink = createSink()
    await bench.executor.start(specOf('a'), sink, never)
    expect(sink.updates).toEqual([
      { kind: 'accepted', workerId: bench.workers[0]?.workerId, agentSessionId: 'conversation-1' },
    ])
  })

  test.each([
    ['mode', { mode: 'plan' }],
    ['sandbox', { sandbox: 'workspace' }],
    ['roots', { roots: ['/project', '/other'] }],
    ['connection', { connectionId: 'another' }],
    ['model', { modelId: 'another' }],
    ['effort', { effort: 'high' }],
  ])('that was opened with another %s is reopened on the same conversation', async (_name, change) => {
    const first = await prompt('a')
    const second = await prompt('a', policyOf(change))
    expect(first.worker?.closes).toHaveLength(1)
    expect(second.worker).toMatchObject({ loaded: 'conversation-1' })
    expect([...bench.routes]).toEqual([second.workerRef])
    expect(open()).toEqual([{ worker_id: second.workerRef }])
  })

  test('whose choice moved with its route is kept', async () => {
    const first = await prompt('a')
    bench.executor.choiceMoved('a', { connectionId: 'another', modelId: 'model', effort: 'default' })
    expect((await prompt('a', policyOf({ connectionId: 'another' }))).workerRef).toBe(first.workerRef)
  })

  test('that went by itself is released and reopened', async () => {
    const first = await prompt('a')
    first.worker?.exit()
    await settled()
    expect(open()).toEqual([])
    expect(bench.routes.size).toBe(0)
    expect((await prompt('a')).worker).toMatchObject({ loaded: 'conversation-1' })
  })

  test('that cannot be ended refuses the prompt, and its session is held until a person settles it', async () => {
    const first = await prompt('a')
    if (first.worker !== undefined) first.worker.outcome = HELD
    await expect(prompt('a', policyOf({ mode: 'plan' }))).rejects.toMatchObject({ code: 'worker_still_alive' })
    expect(bench.executor.isHeld('a')).toBe(true)
    expect([...bench.executor.held()]).toEqual(['a'])
    expect([...bench.routes]).toEqual([first.workerRef])
    expect(bench.executor.overview()).toMatchObject([{ workerId: first.workerRef, state: 'held' }])
    await bench.executor.settle(first.workerRef, { via: 'window', connection: null })
    expect(bench.executor.isHeld('a')).toBe(false)
    expect(bench.executor.held().size).toBe(0)
    expect(bench.routes.size).toBe(0)
  })
})

describe('the pool', () => {
  test('keeps four idle workers and lets the oldest go', async () => {
    for (const sessionId of ['a', 'b', 'c', 'd', 'e']) {
      await prompt(sessionId)
      await bench.clock.advance(10)
    }
    const closed = bench.workers.filter(({ closes }) => closes.length > 0)
    expect(closed.map(({ config }) => config.scope.runId)).toEqual(['run-of-a'])
    expect(bench.executor.overview().map(({ sessionId }) => sessionId)).toEqual(['b', 'c', 'd', 'e'])
  })

  test('never lets go of one in a run, however many are idle', async () => {
    await bench.executor.start(specOf('busy'), createSink(), never)
    for (const sessionId of ['a', 'b', 'c', 'd', 'e']) await prompt(sessionId)
    await settled()
    expect(bench.workers[0]?.closes).toEqual([])
  })

  test('lets an idle worker go after ten minutes, not before', async () => {
    await prompt('a')
    await bench.clock.advance(599_000)
    expect(bench.executor.overview()).toMatchObject([{ state: 'idle' }])
    await bench.clock.advance(1_000)
    expect(bench.executor.overview()).toEqual([])
    expect(open()).toEqual([])
  })

  test('counts the ten minutes from the last run', async () => {
    await prompt('a')
    await bench.clock.advance(500_000)
    await prompt('a')
    await bench.clock.advance(500_000)
    expect(bench.executor.overview()).toMatchObject([{ state: 'idle' }])
  })

  test('closes the session’s worker when the session is archived or deleted', async () => {
    const { worker } = await prompt('a')
    expect(await bench.executor.closeSession?.('a', never)).toBe('gone')
    expect(worker?.closes).toHaveLength(1)
    expect(await bench.executor.closeSession?.('a', never)).toBe('gone')
  })

  test('ends all of it at the stop, and closes every record', async () => {
    await prompt('a')
    const run = await bench.executor.start(specOf('b'), createSink(), never)
    await bench.executor.stop()
    expect(await run.ended).toMatchObject({ outcome: 'failed' })
    expect(open()).toEqual([])
    expect(bench.routes.size).toBe(0)
  })
})

describe('a conversation', () => {
  test('that its agent lost is begun anew, and says so', async () => {
    await prompt('a')
    await bench.executor.closeSession?.('a', never)
    bench.failOpen(new WorkerError('agent_session_not_found', 'No such conversation.', { started: 'ended' }))
    const { sink, worker } = await prompt('a')
    expect(worker?.loaded).toBe(null)
    expect(sink.updates[0]).toMatchObject({ kind: 'notice', code: 'conversation_begun_anew', level: 'warning' })
    expect(bench.rows('SELECT agent_session_id FROM agent_sessions')).toEqual([{ agent_session_id: 'conversation-2' }])
  })

  test('begun anew leaves the newer process on record, so that a crash ends the right one', async () => {
    await prompt('a')
    await bench.executor.closeSession?.('a', never)
    bench.failOpen(new WorkerError('agent_session_not_found', 'No such conversation.', { started: 'ended' }))
    await prompt('a')
    await bench.next().startReaping().done
    expect(bench.reaped).toMatchObject([{ process: { pid: 1_002 } }])
  })

  test('whose record was closed while it started gets no byte', async () => {
    const ledger = createWorkerLedger(bench)
    await bench.store.writeTx((tx) =>
      ledger.starting({ workerId: 'w', kind: 'session', driver: 'acp', sessionId: 'a', runId: null }, tx),
    )
    await bench.executor.terminate('w')
    const identity = { pid: 7, pgid: 7, bootId: 'boot', startToken: '7', exact: true, startedAtMs: 0 }
    await expect(ledger.started('w', identity)).rejects.toMatchObject({ code: 'worker_unknown' })
    expect(open()).toEqual([])
  })

  test('survives the host: the next one goes on with it', async () => {
    await prompt('a')
    await bench.executor.stop()
    const next = bench.next()
    await next.start(specOf('a'), createSink(), never)
    expect(bench.workers.at(-1)).toMatchObject({ loaded: 'conversation-1' })
  })

  test('in another folder is another one', async () => {
    await prompt('a')
    const { worker } = await prompt('a', policyOf({ roots: ['/elsewhere'] }))
    expect(worker?.loaded).toBe(null)
  })
})

describe('a start that fails', () => {
  test('leaves neither a route nor an open record, and keeps its code', async () => {
    bench.failOpen(new WorkerError('worker_not_started', 'codex was not found.', { started: 'never', detail: 'codex' }))
    await expect(bench.executor.start(specOf('a'), createSink(), never)).rejects.toMatchObject({
      code: 'worker_not_started',
      data: { code: 'worker_not_found', phase: 'admission', detail: 'codex was not found.' },
    })
    expect(open()).toEqual([])
    expect(bench.routes.size).toBe(0)
    expect(bench.executor.isHeld('a')).toBe(false)
  })

  test('but leaves something alive holds its session', async () => {
    bench.failOpen(new WorkerError('identity_unknown', 'Which process is it?', { started: 'held' }))
    await expect(bench.executor.start(specOf('a'), createSink(), never)).rejects.toThrow(AppError)
    expect(bench.executor.isHeld('a')).toBe(true)
    expect(bench.executor.overview()).toMatchObject([{ state: 'held', heldReason: 'identity_unknown' }])
    expect(bench.routes.size).toBe(1)
  })

  test('without a Provider says what to do', async () => {
    const start = bench.executor.start(specOf('a', policyOf({ connectionId: null })), createSink(), never)
    await expect(start).rejects.toMatchObject({ code: 'upstream_model_required' })
  })
})

describe('what an earlier host left', () => {
  async function leave(sessionId: string): Promise<string> {
    const execution = await bench.executor.start(specOf(sessionId), createSink(), never)
    return execution.workerRef
  }
  const quiesce = (executor: ExecutorBench['executor'], sessionId: string) =>
    executor.quiesce({ sessionId, runId: 'r', workerRef: null }, never)

  test('is ended by its identity, its route with it; the outcome tells whether it had to be signalled', async () => {
    const [a, b] = [await leave('a'), await leave('b')]
    bench.reaps.set(a, { kind: 'gone', strongest: 'kill', strays: [] })
    const next = bench.next()
    const reaper = next.startReaping()
    expect(await quiesce(next, 'a')).toBe('stopped')
    expect(await quiesce(next, 'b')).toBe('absent')
    expect(await quiesce(next, 'never-had-one')).toBe('absent')
    await reaper.done
    expect(bench.reaped).toMatchObject([
      { workerId: a, process: { pid: 1_000 } },
      { workerId: b, process: { pid: 1_001 } },
    ])
    expect(open()).toEqual([])
    expect(bench.routes.size).toBe(0)
  })

  test('of which nothing but a route is left is no worker any more: the route goes', async () => {
    const a = await leave('a')
    bench.reaps.set(a, HELD)
    bench.routes.add('ended-long-ago')
    await bench.next().startReaping().done
    expect([...bench.routes]).toEqual([a])
  })

  test('and cannot be ended holds its session and keeps its route', async () => {
    const a = await leave('a')
    bench.reaps.set(a, HELD)
    const next = bench.next()
    await next.startReaping().done
    expect(await quiesce(next, 'a')).toBe('alive')
    expect(next.isHeld('a')).toBe(true)
    expect(next.overview()).toMatchObject([
      { workerId: a, product: 'Agent of acp', pid: 1_000, state: 'held', heldReason: 'group_outlived_leader' },
    ])
    expect(bench.routes.size).toBe(1)
    bench.reaps.set(a, { kind: 'gone', strongest: 'kill', strays: [] })
    expect(await next.terminate(a)).toMatchObject({ kind: 'gone' })
    expect(next.isHeld('a')).toBe(false)
    expect(bench.routes.size).toBe(0)
  })

  test('and never told its identity is looked for by its mark', async () => {
    bench.store.db
      .prepare(
        `INSERT INTO worker_records (worker_id, kind, session_id, state, created_at, updated_at) VALUES ('w', 'session', 'a', 'starting', 0, 0)`,
      )
      .run()
    await bench.executor.startReaping().done
    expect(bench.reaped).toEqual([{ workerId: 'w', process: null }])
    expect(open()).toEqual([])
  })

  test('is no reason to fail when the database goes away meanwhile', async () => {
    await leave('a')
    const next = bench.next()
    const { done } = next.startReaping()
    bench.store.close()
    await expect(done).resolves.toBeUndefined()
  })
})

describe('a worker ended by hand', () => {
  test('ends its run as failed', async () => {
    const run = await bench.executor.start(specOf('a'), createSink(), never)
    expect(await bench.executor.terminate(run.workerRef)).toMatchObject({ kind: 'gone' })
    expect(await run.ended).toMatchObject({ outcome: 'failed', error: { code: 'worker_exited' } })
    expect(open()).toEqual([])
  })

  test('that is not there, or not held, is refused by code', async () => {
    const { workerRef } = await prompt('a')
    await expect(bench.executor.terminate('nobody')).rejects.toMatchObject({ code: 'worker_unknown' })
    const by = { via: 'window', connection: null } as const
    await expect(bench.executor.settle('nobody', by)).rejects.toMatchObject({ code: 'worker_unknown' })
    await expect(bench.executor.settle(workerRef, by)).rejects.toMatchObject({ code: 'worker_not_held' })
  })

  test('and killed by its run is released once, whoever asks', async () => {
    const run = await bench.executor.start(specOf('a'), createSink(), never)
    expect(await Promise.all([run.kill(), run.kill(), bench.executor.terminate(run.workerRef)])).toMatchObject([
      'gone',
      'gone',
      { kind: 'gone' },
    ])
    expect(bench.workers[0]?.closes).toHaveLength(1)
  })
})

const EXCHANGE: ExchangeRecord = {
  n: 1,
  sessionId: 'a',
  connectionId: 'connection',
  modelSent: 'model',
  origin: 'upstream',
  status: 200,
  code: null,
  streamError: null,
  retryAfterMs: null,
  requestId: 'req-1',
  failover: false,
  stripped: false,
}

describe('how a turn ends', () => {
  test.each([
    ['end_turn', 'completed'],
    ['ended_by_denial', 'completed'],
    ['max_tokens', 'incomplete'],
    ['max_turn_requests', 'incomplete'],
    ['refusal', 'failed'],
    ['cancelled', 'cancelled'],
  ] as const)('%s is %s', async (stop, outcome) => {
    const sink = createSink()
    const run = await bench.executor.start(specOf('a'), sink, never)
    bench.workers[0]?.end({ stop })
    expect(await run.ended).toMatchObject({ outcome, stopReason: stop })
    const notices = sink.updates.filter((update) => update.kind === 'notice')
    expect(notices.map(({ code }) => code)).toEqual(stop === 'ended_by_denial' ? ['ended_after_denial'] : [])
  })

  test('what the Router saw of this very turn beats the agent’s wording', async () => {
    const run = await bench.executor.start(specOf('a'), createSink(), never)
    bench.exchange = { ...EXCHANGE, status: 429, retryAfterMs: 3_000 }
    bench.workers[0]?.end(new AppError('turn_failed', 'The agent failed.'))
    expect(await run.ended).toMatchObject({
      outcome: 'failed',
      error: { phase: 'model', httpStatus: 429, retryAfterMs: 3_000, requestId: 'req-1' },
    })
    // An exchange of before says nothing about the next turn.
    const again = await bench.executor.start(specOf('a'), createSink(), never)
    bench.workers[0]?.end(new AppError('turn_failed', 'The agent failed.'))
    expect((await again.ended).error).not.toHaveProperty('httpStatus')
  })

  test('who answered in place of the session’s Provider is said once, and a run may want nobody else', async () => {
    const sink = createSink()
    const run = await bench.executor.start(specOf('a', policyOf({ failover: 'off' })), sink, never)
    const exchange = { ...EXCHANGE, connectionId: 'other', modelSent: 'model-b', failover: true }
    for (const change of [{ failover: false }, { status: 503 }, { sessionId: 'b' }, {}, {}]) {
      bench.tellExchange({ ...exchange, ...change })
    }
    bench.workers[0]?.end({})
    await run.ended
    bench.tellExchange({ ...exchange, connectionId: 'third' })
    expect(sink.updates.filter(({ kind }) => kind === 'notice')).toEqual([
      {
        kind: 'notice',
        code: 'answered_by_fallback',
        message: 'The session’s Provider did not answer. Named other answered instead, with model-b.',
        level: 'warning',
      },
    ])
    await prompt('a')
    expect(bench.failover).toEqual([
      [bench.workers[0]?.workerId, false],
      [bench.workers[0]?.workerId, true],
    ])
  })

  test('PR-A32 a history that is sent without its hidden reasoning is told once for each Provider', async () => {
    const told: string[] = []
    const turn = async (...exchanges: (typeof EXCHANGE)[]): Promise<void> => {
      const sink = createSink()
      const run = await bench.executor.start(specOf('a'), sink, never)
      for (const exchange of exchanges) bench.tellExchange(exchange)
      bench.workers[0]?.end({ stop: 'end_turn' })
      await run.ended
      const notices = sink.updates.filter((update) => update.kind === 'notice')
      told.push(notices.map(({ code, message }) => `${code}: ${message}`).join())
    }
    const cut = { ...EXCHANGE, stripped: true }
    await turn(EXCHANGE, { ...cut, sessionId: 'another' })
    await turn(cut, cut)
    await turn(cut)
    await turn({ ...cut, connectionId: 'a third' })
    const said = expect.stringMatching(/^history_stripped: Named .* was sent this conversation without /) as string
    expect(told).toEqual(['', said, '', said])
  })

  test('content between two runs reaches neither', async () => {
    const { sink, worker } = await prompt('a')
    const before = sink.updates.length
    worker?.config.content?.write({ kind: 'text', turn: 1, role: 'agent', messageId: 'm', text: 'late' })
    expect(sink.updates).toHaveLength(before)
    const next = createSink()
    await bench.executor.start(specOf('a'), next, never)
    worker?.config.content?.write({ kind: 'text', turn: 2, role: 'agent', messageId: 'm', text: 'now' })
    worker?.config.content?.write({ kind: 'text', turn: 0, role: 'agent', messageId: 'm', text: 'replayed' })
    expect(next.updates.slice(1)).toEqual([{ kind: 'output', messageId: 'm', text: 'now' }])
  })
})

describe('a question beside the conversation', () => {
  const aside = { aside: true as const }

  test('has a worker and a conversation of its own, and is gone with its answer', async () => {
    const first = await prompt('a')
    const { worker, workerRef } = await prompt('a', aside)
    expect(workerRef).not.toBe(first.workerRef)
    expect(worker).toMatchObject({ loaded: null })
    await settled()
    expect(worker?.closes).toHaveLength(1)
    expect(bench.routes.has(workerRef)).toBe(false)
    expect(open()).toEqual([{ worker_id: first.workerRef }])
    expect((await prompt('a')).workerRef).toBe(first.workerRef)
    expect(bench.rows(`SELECT agent_session_id FROM agent_sessions`)).toEqual([{ agent_session_id: 'conversation-1' }])
  })

  test('holds no session: not while it runs, and not if its worker cannot be ended', async () => {
    const seen: string[] = []
    bench.executor.onChange(() => seen.push(...bench.executor.overview().map(({ state }) => state)))
    const execution = await bench.executor.start(specOf('a', aside), createSink(), never)
    expect(bench.executor.isHeld('a')).toBe(false)
    expect(seen).toEqual(['live'])
    const worker = bench.workers.find(({ workerId }) => workerId === execution.workerRef)
    if (worker !== undefined) worker.outcome = HELD
    await expect(execution.kill()).resolves.toBe('held')
    expect(bench.executor.isHeld('a')).toBe(false)
    expect(bench.rows('SELECT kind, state FROM worker_records')).toEqual([{ kind: 'aside', state: 'held' }])
  })

  test('is ended by a stop', async () => {
    await bench.executor.start(specOf('a', aside), createSink(), never)
    await bench.executor.stop()
    expect(bench.workers.map(({ closes }) => closes.length)).toEqual([1])
  })
})

describe('Claude Code, confined', () => {
  const kept = (connectionId: string | null) => ({
    agentId: 'claude' as const,
    ...policyOf({ sandbox: 'workspace', connectionId, modelId: connectionId === null ? null : 'model' }),
  })

  test('writes its own transcripts, and no settings, beside the session’s folders', async () => {
    const { worker } = await prompt('a', kept('connection'))
    const { confine } = worker?.config.scope ?? {}
    const home = bench.claudeHome
    expect(confine?.writable).toEqual(expect.arrayContaining(['/project', `${home}/projects`]))
    expect(confine?.writable).not.toContain(home)
    expect(confine?.readOnly).toEqual([home, `${home}.json`])
    expect(confine?.scratch).toContain(`${home}/shell-snapshots`)
  })

  test('on its own login is refused: it could not renew it', async () => {
    await expect(prompt('a', kept(null))).rejects.toMatchObject({ code: 'config_option_unavailable' })
    expect(bench.workers).toEqual([])
  })
})
