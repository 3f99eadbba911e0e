import type { McpServerInput, McpTestResult } from '../../shared/mcp.ts'
import { AppError } from '../../shared/errors.ts'
import type { Actor } from '../../shared/vocabulary.ts'
import type { Tx } from '../platform/index.ts'
import type { Execution, ExecutionSink, ExecutionSpec, Executor } from '../runtime/index.ts'
import type { CloseOptions, HeldReason, ReleaseOutcome } from '../workers/index.ts'
import { createAgentSessions } from './agent-sessions.ts'
import type { AgentDefinition } from './agents.ts'
import { executePrompt } from './execution.ts'
import { toRawFailure } from './failures.ts'
import { createAsideWorkers } from './aside-workers.ts'
import { createWorkerLedger } from './ledger.ts'
import { closeRecord, endRoute, openWorker, setupOf } from './open-worker.ts'
import { testMcpServer } from './mcp/index.ts'
import { createWorkerPool } from './pool.ts'
import { reapEarlierWorkers } from './reaper.ts'
import type { Reaper } from './reaper.ts'
import type { ExecutorDeps, LiveWorker, Parts, WorkerSetup } from './types.ts'

/** A start that takes longer says what it waits for. */
const SLOW_START_MS = 2_000
/** At quit each worker gets this much; together they take no longer. */
const QUIT: CloseOptions = { closeStdinMs: 1_500, termGraceMs: 1_500, confirmMs: 2_000 }

export interface WorkerOverview {
  workerId: string
  sessionId: string | null
  product: string
  pid: number | null
  state: 'starting' | 'live' | 'idle' | 'releasing' | 'held'
  /** Unix ms. */
  sinceMs: number
  heldReason: HeldReason | null
}

export interface AgentExecutor extends Executor {
  /** Ends what an earlier host left behind. Call once, before the runtime starts; does not wait for the end. */
  startReaping(): Reaper
  /** The ledger names a worker of that session which is neither ours nor proven gone: nobody may begin a run. */
  isHeld(sessionId: string): boolean
  /** Every session that is. */
  held(): ReadonlySet<string>
  /** The setup of the session's open worker moved with its route: the next prompt needs no new one. */
  choiceMoved(sessionId: string, choice: WorkerSetup['choice']): void
  refusalReason(sessionId: string): 'in_answer' | 'steer' | 'next_prompt' | null
  /** Starts an MCP server as an agent would, asks for its tools and ends it. @throws AppError as `testMcpServer`. */
  testMcp(input: McpServerInput, signal: AbortSignal): Promise<McpTestResult>
  overview(): readonly WorkerOverview[]
  onChange(listener: () => void): () => void
  /** @throws AppError `worker_unknown`. */
  terminate(workerId: string): Promise<ReleaseOutcome>
  /** A person gives a held worker's record free; signals nothing. @throws AppError `worker_unknown`, `worker_not_held`. */
  settle(workerId: string, by: Actor): Promise<void>
  stop(): Promise<void>
}

export function createAgentExecutor(deps: ExecutorDeps): AgentExecutor {
  const listeners = new Set<() => void>()
  const changed = (): void => {
    for (const listener of listeners) listener()
  }
  const parts: Parts = {
    ...deps,
    ledger: createWorkerLedger({ ...deps, onChange: changed }),
    agentSessions: createAgentSessions(deps),
  }
  const { clock, log, ledger, workers } = parts
  const pool = createWorkerPool(parts, changed)
  const asides = createAsideWorkers(parts)
  /** Workers between their record and their place in the pool. */
  const opening = new Map<string, number>()
  let reaper: Reaper | null = null

  const borrow = async (
    agent: AgentDefinition,
    spec: ExecutionSpec,
    sink: ExecutionSink,
    signal: AbortSignal,
  ): Promise<LiveWorker> => {
    await pool.settled(spec.sessionId)
    const wanted = await setupOf(parts, agent, spec)
    const warm = pool.borrow(spec.sessionId)
    if (warm !== null) {
      if (!warm.exited() && (await fits(warm, wanted))) return warm
      const outcome = await pool.release(warm)
      if (outcome.kind === 'held') throw stillAlive(warm.workerId)
    }
    opening.set(spec.sessionId, clock.nowMs())
    try {
      const worker = await openWorker(parts, spec, sink, signal)
      pool.add(worker)
      return worker
    } finally {
      opening.delete(spec.sessionId)
    }
  }

  return {
    async start(spec: ExecutionSpec, sink: ExecutionSink, signal: AbortSignal): Promise<Execution> {
      const agent = parts.agents.get(spec.agentId)
      if (agent.removed === true) throw startFailure(removedAgent(agent.label))
      using _slow = clock.after(SLOW_START_MS, () =>
        sink.push({ kind: 'notice', code: 'start_waits', message: `Waiting for ${agent.label} to start.` }),
      )
      try {
        if (spec.aside === true) {
          const worker = await openWorker(parts, spec, sink, signal)
          asides.add(worker)
          if (!signal.aborted) return executePrompt(parts, asides, worker, spec, sink)
          await asides.release(worker)
          throw new AppError('aborted', 'The start was cancelled.')
        }
        const worker = await borrow(agent, spec, sink, signal)
        if (signal.aborted) {
          pool.giveBack(worker)
          throw new AppError('aborted', 'The start was cancelled.')
        }
        return executePrompt(parts, pool, worker, spec, sink)
      } catch (thrown) {
        if (!(thrown instanceof AppError))
          log.error('a start failed unexpectedly', { runId: spec.runId, error: thrown })
        throw startFailure(thrown)
      }
    },
    quiesce: (ref) => reaper?.outcome(ref) ?? Promise.resolve('absent'),
    async closeSession(sessionId) {
      await pool.settled(sessionId)
      const worker = pool.get(sessionId)
      return worker === null ? 'gone' : (await pool.release(worker, QUIT)).kind
    },
    forgetSession(sessionId: string, tx: Tx) {
      parts.agentSessions.forget(sessionId, tx)
      parts.providers.forgetSession(sessionId, tx)
      parts.store.afterCommit(tx, () => {
        parts.agents.forget(sessionId).catch((error: unknown) => log.warn('a conversation stays', { sessionId, error }))
      })
    },
    startReaping() {
      reaper = reapEarlierWorkers(parts)
      return reaper
    },
    isHeld(sessionId) {
      if (opening.has(sessionId)) return false
      const own = pool.get(sessionId)?.workerId
      return ledger.openOf(sessionId).some((record) => record.workerId !== own)
    },
    held() {
      const strange = ledger
        .openOfAny()
        .filter(({ sessionId, workerId }) => !opening.has(sessionId) && pool.get(sessionId)?.workerId !== workerId)
      return new Set(strange.map(({ sessionId }) => sessionId))
    },
    choiceMoved(sessionId, choice) {
      const worker = pool.get(sessionId)
      if (worker !== null) worker.setup = { ...worker.setup, choice }
    },
    refusalReason: (sessionId) => pool.get(sessionId)?.session.refusalReason ?? null,
    async testMcp(input, signal) {
      await parts.environment
      return testMcpServer({ ...parts, servers: parts.mcp }, input, signal)
    },
    overview() {
      const own = pool.list().map(({ worker, idleSinceMs, releasing }): WorkerOverview => ({
        workerId: worker.workerId,
        sessionId: worker.sessionId,
        product: worker.agent.label,
        pid: worker.session.process.pid,
        state: releasing ? 'releasing' : idleSinceMs === null ? 'live' : 'idle',
        sinceMs: worker.openedAtMs,
        heldReason: null,
      }))
      const seen = new Set(own.map((worker) => worker.workerId))
      const open = ledger.open().filter((record) => !seen.has(record.workerId))
      const listed = new Map(workers.list().map((record) => [record.workerId, record]))
      return [
        ...own,
        ...open.map((record): WorkerOverview => {
          const ours = listed.get(record.workerId)
          return {
            workerId: record.workerId,
            sessionId: record.sessionId,
            product: ours?.product || (record.driver === null ? 'Program' : workers.driver(record.driver).product),
            pid: record.process?.pid ?? null,
            // What lives and is not of this host is being ended.
            state: record.state === 'live' && ours?.state.kind !== 'live' ? 'releasing' : record.state,
            sinceMs: record.sinceMs,
            heldReason: record.heldReason,
          }
        }),
      ]
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async terminate(workerId) {
      const own = pool.list().find(({ worker }) => worker.workerId === workerId)
      if (own !== undefined) return pool.release(own.worker)
      const record = ledger.open().find((each) => each.workerId === workerId)
      if (record === undefined) throw unknownWorker(workerId)
      const outcome = await workers.reap(workerId, record.process)
      await closeRecord(parts, workerId, outcome)
      return outcome
    },
    async settle(workerId, by) {
      const record = ledger.open().find((each) => each.workerId === workerId)
      if (record === undefined) throw unknownWorker(workerId)
      if (record.state !== 'held') {
        throw new AppError('worker_not_held', 'Only a worker that could not be ended can be settled by hand.', {
          detail: workerId,
        })
      }
      if (workers.list().some((listed) => listed.workerId === workerId)) workers.settle(workerId)
      await endRoute(parts, workerId)
      await ledger.settled(workerId, by)
    },
    async stop() {
      await Promise.all([pool.closeAll(QUIT), asides.closeAll(QUIT), workers.closeAll(QUIT), reaper?.done])
    },
  }
}

/** Whether a warm worker can take a run that wants `wanted`; a model that the agent can change in place is changed. */
async function fits(worker: LiveWorker, wanted: WorkerSetup): Promise<boolean> {
  const has = worker.setup
  const same =
    has.mode === wanted.mode &&
    has.sandbox === wanted.sandbox &&
    has.roots.length === wanted.roots.length &&
    has.roots.every((root, index) => root === wanted.roots[index]) &&
    has.choice.connectionId === wanted.choice.connectionId &&
    has.unattended === wanted.unattended &&
    has.servers === wanted.servers &&
    has.trusted === wanted.trusted
  if (!same) return false
  const { modelId, effort } = wanted.choice
  if (has.choice.modelId === modelId && has.choice.effort === effort) return true
  if (worker.session.setRuntime === undefined || modelId === null || has.choice.connectionId !== null) return false
  await worker.session.setRuntime({ modelId, effort })
  worker.setup = wanted
  return true
}

const stillAlive = (workerId: string): AppError =>
  new AppError(
    'worker_still_alive',
    'A process of this session could not be ended. See Health: end it there, or settle it.',
    {
      detail: workerId,
    },
  )

const removedAgent = (label: string): AppError =>
  new AppError('agent_unavailable', `${label} was removed. Add it again, and begin a new session with it.`)

const unknownWorker = (workerId: string): AppError =>
  new AppError('worker_unknown', 'There is no such worker any more.', { detail: workerId })

/** A start's error keeps its code for people; what the runtime classifies travels as data. */
function startFailure(thrown: unknown): AppError {
  const failure = toRawFailure(thrown, null)
  if (thrown instanceof AppError) {
    return new AppError(thrown.code, thrown.message, {
      ...(thrown.detail === undefined ? {} : { detail: thrown.detail }),
      data: { ...failure, phase: 'admission' },
      retryable: thrown.retryable,
      cause: thrown,
    })
  }
  return new AppError('internal', failure.message, { data: { ...failure, phase: 'admission' }, cause: thrown })
}
