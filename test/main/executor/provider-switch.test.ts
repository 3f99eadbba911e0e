import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createProviderSwitch, executorMigrations } from '../../../src/main/executor/index.ts'
import type { ProviderSwitch } from '../../../src/main/executor/index.ts'
import { createDurableFile } from '../../../src/main/platform/durable-file.ts'
import { createSecretRegistry } from '../../../src/main/platform/index.ts'
import { createProviders, providerMigrations } from '../../../src/main/providers/index.ts'
import { createRuntime, runtimeMigrations } from '../../../src/main/runtime/index.ts'
import type { Actor, RuntimeChoice } from '../../../src/shared/vocabulary.ts'
import { createFakeClock } from '../../support/clock.ts'
import { createMemoryCredentials } from '../../support/credentials.ts'
import { createTempDir } from '../../support/dir.ts'
import { createFakeFailpoints } from '../../support/failpoints.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createMemoryLog } from '../../support/log.ts'
import { openTestStore } from '../../support/store.ts'
import { bind, codeOf, create, customInput, launch } from '../providers/support.ts'
import { createFakeExecutor } from '../runtime/support/fake-executor.ts'
import { memoryFiles, pathsIn } from '../runtime/support/paths.ts'

const by: Actor = { via: 'window', connection: 'g' }

/** Runtime and providers over one database, with sessions of Codex that hold routes, and two connections. */
async function createSessions(count: number) {
  const dir = createTempDir()
  const clock = createFakeClock()
  const log = createMemoryLog()
  const ids = createFakeIds(0)
  const failpoints = createFakeFailpoints()
  const fileFailpoints = createFakeFailpoints()
  const migrations = [...runtimeMigrations, ...executorMigrations, ...providerMigrations]
  const store = await openTestStore(migrations, { dir: dir.path, clock, log })
  const shared = { clock, ids, log, failpoints, store, secrets: createSecretRegistry() }
  const runtime = createRuntime({
    ...shared,
    paths: pathsIn(dir.path),
    files: memoryFiles(),
    executor: createFakeExecutor(),
    isHeld: () => false,
    host: { ownerHost: 'host-a', pid: 1_000, isAlive: () => true },
  })
  const providers = createProviders({
    ...shared,
    paths: { providers: join(dir.path, 'providers') },
    files: createDurableFile({ ids, failpoints: fileFailpoints }),
    environment: () => ({ CODEX_HOME: join(dir.path, 'codex') }),
    rehearsalOrigin: () => null,
    bodyCapBytes: () => 1_048_576,
    upstreamProxy: () => 'none',
    openStore: async () => createMemoryCredentials(),
  })
  await providers.start(new AbortController().signal)
  const input = (name: string) => customInput(name, 'http://127.0.0.1:9/v1', { manualModelId: 'gpt-test' })
  const a = await create(providers, input('a'))
  const b = await create(providers, { ...input('b'), baseUrl: 'http://127.0.0.1:10/v1' })
  const choice: RuntimeChoice = { connectionId: a.id, modelId: 'gpt-test', effort: 'default' }
  const sessionIds: string[] = []
  for (let n = 0; n < count; n++) {
    const { id } = await runtime.sessions.create({ agentId: 'codex', workDir: dir.path, createdVia: 'desktop', choice })
    sessionIds.push(id)
    await bind({ providers, store }, launch(a.id, { workerId: `worker-${n}`, sessionId: id, choice }))
  }
  const moved: string[] = []
  const makeSwitch = (change: Partial<Parameters<typeof createProviderSwitch>[0]> = {}): ProviderSwitch =>
    createProviderSwitch({
      ...shared,
      providers,
      runtime: () => runtime,
      executor: { choiceMoved: (sessionId) => void moved.push(sessionId) },
      ...change,
    })
  return {
    store,
    runtime,
    providers,
    sessionIds,
    moved,
    b: b.id,
    makeSwitch,
    fileFailpoints,
    revision: async () => (await providers.catalog()).revision,
    on: (sessionId: string) => runtime.sessions.get(sessionId).choice.connectionId,
    routed: (sessionId: string) => providers.sessionRuntime(sessionId)?.connectionId,
    pending: () => store.db.prepare('SELECT count(*) FROM provider_switches').pluck().get(),
    async [Symbol.asyncDispose]() {
      const stopping = runtime.stop()
      for (let step = 0; step < 20; step++) await clock.advance(1_000)
      await stopping
      await providers.stop()
      store.close()
      dir[Symbol.dispose]()
    },
  }
}

test('PR-A35 a switch moves every session that can go, route and row together, and makes it the default', async () => {
  await using world = await createSessions(3)
  const [first = '', second = '', third = ''] = world.sessionIds
  const expectedRevision = await world.revision()
  const { steps, outcome } = await world
    .makeSwitch()
    .run({ client: 'codex', connectionId: world.b, expectedRevision, allowHistoryStrip: false, by })
  expect(outcome).toEqual({ applied: true, durable: true })
  expect(steps.map(({ effect }) => effect.kind)).toEqual(['now', 'now', 'now'])
  for (const id of [first, second, third]) expect([world.on(id), world.routed(id)]).toEqual([world.b, world.b])
  expect(world.moved).toEqual(world.sessionIds)
  expect((await world.providers.catalog()).defaults.codex).toEqual({ connectionId: world.b, modelId: 'gpt-test' })
  expect(world.pending()).toBe(0)
})

test('PR-A35 a session that somebody chose for meanwhile stays, and is named', async () => {
  await using world = await createSessions(2)
  const [first = '', second = ''] = world.sessionIds
  const providerSwitch = world.makeSwitch({
    providers: {
      ...world.providers,
      // Between the look and the change.
      async setDefault(...args) {
        const { rev } = world.runtime.sessions.get(first)
        const choice: RuntimeChoice = { connectionId: world.b, modelId: 'another', effort: 'default' }
        await world.store.writeTx((tx) =>
          world.runtime.config.applyChoice({ sessionId: first, choice, expectedRev: rev, by }, tx),
        )
        return world.providers.setDefault(...args)
      },
    },
  })
  const expectedRevision = await world.revision()
  const { steps } = await providerSwitch.run({
    client: 'codex',
    connectionId: world.b,
    expectedRevision,
    allowHistoryStrip: false,
    by,
  })
  expect(steps.map(({ sessionId, effect }) => [sessionId, effect])).toEqual([
    [first, { kind: 'refused', code: 'config_conflict' }],
    [second, { kind: 'now', historyStripped: false }],
  ])
  expect(world.runtime.sessions.get(first).choice.modelId).toBe('another')
})

test('PR-A86 a switch whose choice a power failure may undo says so, and has happened', async () => {
  await using world = await createSessions(1)
  const expectedRevision = await world.revision()
  world.fileFailpoints.failAt('before_dirsync')
  const { outcome } = await world
    .makeSwitch()
    .run({ client: 'codex', connectionId: world.b, expectedRevision, allowHistoryStrip: false, by })
  expect(outcome).toEqual({ applied: true, durable: false })
  expect(world.sessionIds.map((id) => [world.on(id), world.routed(id)])).toEqual([[world.b, world.b]])
})

test('a switch on a catalog that somebody changed is refused and leaves nothing behind', async () => {
  await using world = await createSessions(1)
  const [first = ''] = world.sessionIds
  const request = { client: 'codex', connectionId: world.b, expectedRevision: 0, allowHistoryStrip: false, by } as const
  expect(await codeOf(world.makeSwitch().run(request))).toBe('model_profile_conflict')
  expect(world.on(first)).not.toBe(world.b)
  expect(world.pending()).toBe(0)
})

test('PR-A36 a crash after the catalog write is carried on at the next start, one before it is dropped', async () => {
  await using world = await createSessions(2)
  const request = async () =>
    ({
      client: 'codex',
      connectionId: world.b,
      expectedRevision: await world.revision(),
      allowHistoryStrip: false,
      by,
    }) as const
  const dies = () => Promise.reject(new Error('the power went'))

  let commits = 0
  const early = world.makeSwitch({
    providers: { ...world.providers, setDefault: dies },
    store: { ...world.store, writeTx: (fn) => (++commits === 1 ? world.store.writeTx(fn) : dies()) },
  })
  await expect(early.run(await request())).rejects.toThrow('the power went')
  expect(world.pending()).toBe(1)
  await world.makeSwitch().recover()
  expect(world.pending()).toBe(0)
  expect(world.sessionIds.map(world.on)).not.toContain(world.b)

  commits = 0
  const late = world.makeSwitch({
    store: { ...world.store, writeTx: (fn) => (++commits === 1 ? world.store.writeTx(fn) : dies()) },
  })
  await expect(late.run(await request())).rejects.toThrow('the power went')
  expect(world.sessionIds.map(world.on)).not.toContain(world.b)
  await world.makeSwitch().recover()
  expect(world.pending()).toBe(0)
  expect(world.sessionIds.map(world.on)).toEqual([world.b, world.b])
  expect(world.sessionIds.map(world.routed)).toEqual([world.b, world.b])
})
