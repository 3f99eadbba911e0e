/** The executor over a real ledger, with workers and providers that a test moves by hand. */
import { tmpdir } from 'node:os'
import { AppError } from '../../../src/shared/errors.ts'
import {
  createAgentExecutor,
  createAgents,
  createFolderTrust,
  createMcpServers,
  executorMigrations,
} from '../../../src/main/executor/index.ts'
import type { AgentExecutor, FolderTrust } from '../../../src/main/executor/index.ts'
import { createSecretRegistry, pathsIn } from '../../../src/main/platform/index.ts'
import type { Providers } from '../../../src/main/providers/index.ts'
import { runtimeMigrations } from '../../../src/main/runtime/index.ts'
import type { ExecutionSpec, ExecutionUpdate } from '../../../src/main/runtime/index.ts'
import { directLauncher, WorkerError } from '../../../src/main/workers/index.ts'
import type {
  CloseOptions,
  Driver,
  Exit,
  ProcessIdentity,
  PromptResult,
  ReleaseOutcome,
  Session,
  SessionConfig,
  Workers,
} from '../../../src/main/workers/index.ts'
import { createFakeClock } from '../../support/clock.ts'
import type { FakeClock } from '../../support/clock.ts'
import { createTempDir } from '../../support/dir.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createMemoryLog } from '../../support/log.ts'
import type { MemoryLog } from '../../support/log.ts'
import { openTestStore } from '../../support/store.ts'
import type { TestStore } from '../../support/store.ts'

/** Confines in name alone: here no process runs. */
const SANDBOX = { ...directLauncher, name: 'fake', trial: () => Promise.resolve(null) }

const NO_SECRETS = {
  set: () => Promise.resolve({ applied: true, durable: true }),
  get: () => Promise.resolve(null),
  delete: () => Promise.resolve({ applied: true, durable: true }),
  refs: () => Promise.resolve([]),
}
const GONE: ReleaseOutcome = { kind: 'gone', strongest: 'stdin', strays: [] }
export const HELD: ReleaseOutcome = { kind: 'held', reason: 'group_outlived_leader', members: 1, strays: [] }

/** A worker as the test sees it. */
export interface FakeWorker {
  workerId: string
  config: SessionConfig
  /** The conversation it was asked to go on with. */
  loaded: string | null
  prompts: string[]
  cancels: number
  closes: (CloseOptions | undefined)[]
  /** What its release will answer. */
  outcome: ReleaseOutcome
  end(result: Partial<PromptResult> | Error): void
  exit(): void
}

export interface ExecutorBench extends Disposable {
  executor: AgentExecutor
  trust: FolderTrust
  claudeHome: string
  clock: FakeClock
  store: TestStore
  log: MemoryLog
  workers: FakeWorker[]
  routes: Set<string>
  /** The settings files that each worker's route was asked about. */
  settingsFiles: Map<string, readonly string[]>
  /** What reaping answers, by worker id; GONE without a word. */
  reaps: Map<string, ReleaseOutcome>
  reaped: { workerId: string; process: ProcessIdentity | null }[]
  /** The next open rejects with it. */
  failOpen(error: Error): void
  exchange: ReturnType<Providers['lastExchange']>
  /** The Router tells of a request that ended. */
  tellExchange(exchange: NonNullable<ReturnType<Providers['lastExchange']>>): void
  /** What each run said of failover, by worker. */
  failover: (readonly [workerId: string, allowed: boolean])[]
  /** A second executor over the same database: the next start. */
  next(): AgentExecutor
  rows(sql: string): unknown[]
}

export async function createBench(): Promise<ExecutorBench> {
  const dir = createTempDir()
  const clock = createFakeClock()
  const log = createMemoryLog()
  const store = await openTestStore([...runtimeMigrations, ...executorMigrations], { clock, log })
  // The sessions are the runtime's; here there is none.
  store.db.pragma('foreign_keys = OFF')
  const workers: FakeWorker[] = []
  const routes = new Set<string>()
  const settingsFiles = new Map<string, readonly string[]>()
  const failures: Error[] = []
  const reaps = new Map<string, ReleaseOutcome>()
  const reaped: ExecutorBench['reaped'] = []
  let conversations = 0
  let nextPid = 1_000
  /** Of this host: the next one has none yet. */
  const live = new Set<string>()

  async function open(config: SessionConfig, loaded: string | null): Promise<Session> {
    const failure = failures.shift()
    const pids = nextPid++
    const process: ProcessIdentity = {
      pid: pids,
      pgid: pids,
      bootId: 'boot',
      startToken: String(pids),
      exact: true,
      startedAtMs: clock.nowMs(),
    }
    if (failure instanceof WorkerError && failure.started === 'never') throw failure
    live.add(config.workerId)
    await config.onStarted(process)
    if (failure !== undefined) throw failure
    let turn: PromiseWithResolvers<PromptResult> | null = null
    let leave: (exit: Exit) => void = () => undefined
    const exited = new Promise<Exit>((resolve) => (leave = resolve))
    let closing: Promise<ReleaseOutcome> | null = null
    const worker: FakeWorker = {
      workerId: config.workerId,
      config,
      loaded,
      prompts: [],
      cancels: 0,
      closes: [],
      outcome: GONE,
      end(result) {
        if (result instanceof Error) turn?.reject(result)
        else turn?.resolve({ stop: 'end_turn', refusals: [], refusalsTruncated: false, usage: null, ...result })
        turn = null
      },
      exit: () => leave({ code: 1, signal: null, requested: false, error: null }),
    }
    workers.push(worker)
    return {
      id: loaded ?? `conversation-${++conversations}`,
      process,
      facts: {
        agentName: 'fake',
        agentVersion: '1',
        model: null,
        mode: 'ask',
        modeVerified: true,
        loaded: loaded !== null,
      },
      exited,
      refusalReason: 'in_answer',
      prompt(prompt) {
        worker.prompts.push(prompt.text)
        turn = Promise.withResolvers<PromptResult>()
        return turn.promise
      },
      runtime: () => ({ modelId: null, effort: null }),
      updates: () => (async function* none() {})(),
      cancel() {
        worker.cancels++
        return Promise.resolve('sent')
      },
      close(options) {
        worker.closes.push(options)
        closing ??= Promise.resolve().then(() => {
          worker.end(new AppError('session_ended', 'This agent has ended.'))
          leave({ code: 0, signal: null, requested: true, error: null })
          return worker.outcome
        })
        return closing
      },
      diagnostics: () => ({ droppedUpdates: 0, invalidLines: 0, contentGaps: 0, refusalsUnrecorded: 0, stderr: [] }),
    }
  }

  const fakeWorkers: Workers = {
    driver: (name) => ({ name, product: `Agent of ${name}` }) as unknown as Driver,
    open: (_driver, config, { load }) => open(config, load ?? null),
    spawn: () => Promise.reject(new AppError('agent_unavailable', 'Nothing is spawned here.')),
    reap(workerId, process) {
      reaped.push({ workerId, process })
      return Promise.resolve(reaps.get(workerId) ?? { kind: 'gone', strongest: 'none', strays: [] })
    },
    sweep: () => Promise.resolve({ removed: 0, kept: 0 }),
    privateDir: (workerId) => Promise.resolve(`/nowhere/${workerId}`),
    serveToken: () => Promise.reject(new AppError('private_dir_failed', 'There is no socket here.')),
    list: () =>
      [...live].map((workerId) => ({
        workerId,
        runId: '',
        driver: 'acp',
        product: 'Fake agent',
        process: null,
        state: { kind: 'live', sinceMs: 0 },
      })),
    settle: () => undefined,
    closeAll: () => Promise.resolve(new Map()),
  }
  const self = { exchange: null as ExecutorBench['exchange'] }
  const failover: ExecutorBench['failover'] = []
  const followers = new Set<Parameters<Providers['onExchange']>[0]>()
  // The executor uses these few of the providers' many.
  const providers = {
    prepareWorker: () => Promise.resolve(),
    bindWorker(request: { workerId: string; settingsFiles?: readonly string[] }) {
      routes.add(request.workerId)
      settingsFiles.set(request.workerId, request.settingsFiles ?? [])
      return { argv: [], config: {}, envSet: {}, envUnset: [] }
    },
    unbindWorker(workerId: string) {
      routes.delete(workerId)
      return Promise.resolve({ applied: true, durable: true })
    },
    boundWorkers: () => [...routes],
    forgetSession: () => undefined,
    lastExchange: () => self.exchange,
    onExchange(listener: Parameters<Providers['onExchange']>[0]) {
      followers.add(listener)
      return () => void followers.delete(listener)
    },
    connectionName: (id: string) => `Named ${id}`,
    allowFailover: (workerId: string, allowed: boolean) => void failover.push([workerId, allowed]),
  } as unknown as Providers

  const ids = createFakeIds()
  const trust = createFolderTrust({ clock, log, store, hostEnv: () => undefined })
  const create = (): AgentExecutor =>
    createAgentExecutor({
      clock,
      ids,
      log,
      paths: pathsIn('/nowhere'),
      store,
      workers: fakeWorkers,
      providers,
      agents: createAgents({
        own: { list: () => [], get: () => null },
        claudeHome: dir.at('claude'),
        builtin: { command: '/bin/false', script: '/nowhere/agent.js', home: tmpdir() },
      }),
      mcp: createMcpServers({ clock, ids, log, store, secrets: createSecretRegistry(), secretStore: NO_SECRETS }),
      trust,
      sandbox: SANDBOX,
      bridge: null,
      artifacts: { publish: () => Promise.reject(new AppError('run_ending', 'Nothing is published here.')) },
      hostEnv: () => undefined,
      environment: Promise.resolve(),
    })
  return {
    executor: create(),
    trust,
    clock,
    store,
    log,
    workers,
    routes,
    failover,
    tellExchange: (exchange) => followers.forEach((listener) => listener(exchange)),
    settingsFiles,
    reaps,
    reaped,
    failOpen: (error) => void failures.push(error),
    get exchange() {
      return self.exchange
    },
    set exchange(next) {
      self.exchange = next
    },
    next() {
      live.clear()
      return create()
    },
    rows: (sql) => store.db.prepare(sql).all(),
    claudeHome: dir.at('claude'),
    [Symbol.dispose]() {
      store[Symbol.dispose]()
      dir[Symbol.dispose]()
    },
  }
}

export function specOf(sessionId: string, more: Partial<ExecutionSpec> = {}): ExecutionSpec {
  return {
    sessionId,
    runId: `run-of-${sessionId}`,
    intentId: 'intent',
    attempt: 1,
    agentId: 'builtin',
    prompt: { text: 'Hello.', inputs: [], clientMessageId: 'm', literal: false },
    history: null,
    policy: {
      source: 'cli',
      entrySource: 'cli',
      mode: 'agent',
      forced: false,
      unattended: false,
      sandbox: 'none',
      roots: ['/project'],
      connectionId: 'connection',
      modelId: 'model',
      effort: 'default',
      skills: [],
      mcpServers: [],
      mcpRequired: [],
      decisionTtlMs: 1_000,
      maxRunMs: 1_000,
    },
    ...more,
  }
}

export function createSink() {
  const updates: ExecutionUpdate[] = []
  return { updates, push: (update: ExecutionUpdate) => void updates.push(update) }
}

export const never = new AbortController().signal
