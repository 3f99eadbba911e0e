import { z } from 'zod'
import { createSecretRegistry } from '../../../../src/main/platform/index.ts'
import { createRuntime, runtimeMigrations } from '../../../../src/main/runtime/index.ts'
import type { Runtime, RuntimeDeps, SessionRow, SubmitRequest } from '../../../../src/main/runtime/index.ts'
import { eventData, readEvent } from '../../../../src/shared/events.ts'
import type { SessionEvent } from '../../../../src/shared/events.ts'
import { createFakeClock, settled } from '../../../support/clock.ts'
import type { FakeClock } from '../../../support/clock.ts'
import { createTempDir } from '../../../support/dir.ts'
import { createFakeFailpoints } from '../../../support/failpoints.ts'
import type { FakeFailpoints } from '../../../support/failpoints.ts'
import { createFakeIds } from '../../../support/ids.ts'
import { createMemoryLog } from '../../../support/log.ts'
import type { MemoryLog } from '../../../support/log.ts'
import { openTestStore } from '../../../support/store.ts'
import type { TestStore } from '../../../support/store.ts'
import { createFakeExecutor } from './fake-executor.ts'
import type { FakeExecutor, FakeExecutorOptions } from './fake-executor.ts'
import { memoryFiles, pathsIn } from './paths.ts'

export interface TestRuntime extends AsyncDisposable {
  runtime: Runtime
  store: TestStore
  clock: FakeClock
  executor: FakeExecutor
  failpoints: FakeFailpoints
  log: MemoryLog
  dir: string
  session: SessionRow
  /** Commits of `writeTx` since the start. */
  commits(): number
  submit(request?: Partial<SubmitRequest>): ReturnType<Runtime['runs']['submit']>
  /** Everything in the session's log; each event's data must pass its schema. */
  events(): SessionEvent[]
  types(): string[]
  count(table: string): number
  rows(sql: string): unknown[]
}

export interface TestRuntimeOptions extends FakeExecutorOptions {
  dir?: string
  namespace?: number
  deps?: Partial<RuntimeDeps>
  title?: string
  clock?: FakeClock
}

/** A runtime over a real database, with a clock, ids and an executor that the test moves. One session is there. */
export async function createTestRuntime(options: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const temp = options.dir === undefined ? createTempDir() : null
  const dir = options.dir ?? temp?.path ?? ''
  const clock = options.clock ?? createFakeClock()
  const log = createMemoryLog()
  const failpoints = createFakeFailpoints()
  const store = await openTestStore(runtimeMigrations, { clock, log, ...(temp === null ? { dir } : {}) })
  const executor = createFakeExecutor(options)
  let commits = 0
  const runtime = createRuntime({
    clock,
    ids: createFakeIds(options.namespace ?? 0),
    log,
    failpoints,
    paths: pathsIn(dir),
    secrets: createSecretRegistry(),
    files: memoryFiles(),
    store: {
      ...store,
      async writeTx(fn, signal) {
        const result = await store.writeTx(fn, signal)
        commits++
        return result
      },
    },
    executor,
    isHeld: () => false,
    host: { ownerHost: 'host-a', pid: 1_000 + (options.namespace ?? 0), isAlive: () => true },
    ...options.deps,
  })
  const session = await runtime.sessions.create({
    agentId: 'claude',
    workDir: dir,
    createdVia: 'desktop',
    title: options.title ?? 'Work',
  })
  commits = 0
  const self: TestRuntime = {
    runtime,
    store,
    clock,
    executor,
    failpoints,
    log,
    dir,
    session,
    commits: () => commits,
    submit: (request = {}) => runtime.runs.submit({ sessionId: session.id, text: 'hi', source: 'desktop', ...request }),
    events() {
      const { events } = runtime.events.read({ sessionId: session.id, afterSeq: 0, limit: 1_000 })
      for (const event of events) {
        if (!Object.hasOwn(eventData, event.type)) throw new Error(`no schema for ${event.type}`)
        if (readEvent(event) === null) throw new Error(`does not pass its schema: ${JSON.stringify(event)}`)
      }
      return events
    },
    types: () => self.events().map(({ type, state }) => (state === null ? type : `${type} ${state}`)),
    count: (table) => z.number().parse(store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()),
    rows: (sql) => store.db.prepare(sql).all(),
    async [Symbol.asyncDispose]() {
      const stopping = runtime.stop()
      for (let step = 0; step < 40; step++) await clock.advance(1_000)
      await stopping
      store[Symbol.dispose]()
      temp?.[Symbol.dispose]()
    },
  }
  return self
}

/** Lets what can happen without the clock happen. */
export async function quiet(times = 4): Promise<void> {
  for (let turn = 0; turn < times; turn++) await settled()
}
