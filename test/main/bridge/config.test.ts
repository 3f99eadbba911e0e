import { expect, test } from 'vitest'
import { sessionHandlers } from '../../../src/main/bridge/handlers/sessions.ts'
import type { CallContext } from '../../../src/main/bridge/types.ts'
import type { Views } from '../../../src/main/bridge/views.ts'
import { cascade } from '../../../src/main/executor/cascade.ts'
import type { RuntimeOption, SessionRuntimes } from '../../../src/main/executor/index.ts'
import type { Settings, Tx } from '../../../src/main/platform/index.ts'
import type { RuntimeChoice } from '../../../src/shared/vocabulary.ts'
import { createTestRuntime } from '../runtime/support/runtime.ts'
import type { TestRuntime } from '../runtime/support/runtime.ts'

const CHOICE: RuntimeChoice = { connectionId: 'c', modelId: 'gpt-5', effort: 'default' }
const context: CallContext = {
  signal: new AbortController().signal,
  connection: { generation: 'g', kind: 'window', shows: null, focused: true },
  actor: { via: 'window', connection: 'g' },
}

function handlersOf(t: TestRuntime, options: readonly RuntimeOption[], more: Partial<SessionRuntimes> = {}) {
  const runtimes: Pick<SessionRuntimes, 'options' | 'labelOf' | 'preview'> = {
    options: () => options,
    preview: () => ({ kind: 'next_turn', historyStripped: false }),
    labelOf: (_agentId, choice) => choice.modelId ?? '',
    ...more,
  }
  const settings: Pick<Settings, 'get'> = { get: (() => false) as Settings['get'] }
  return sessionHandlers({
    runtime: t.runtime,
    runtimes: runtimes as SessionRuntimes,
    settings: settings as Settings,
    views: {} as Views,
    whyNotConfined: (agentId) => Promise.resolve(agentId === 'codex' ? null : 'It cannot be confined here.'),
  })
}

async function make(t: TestRuntime, choice?: RuntimeChoice): Promise<string> {
  const chosen = choice === undefined ? {} : { choice }
  const request = { agentId: 'builtin' as const, workDir: t.dir, createdVia: 'desktop' as const, ...chosen }
  return (await t.runtime.sessions.create(request)).id
}

test('RT-A90 without a catalog a session still offers what it runs on', async () => {
  await using t = await createTestRuntime()
  const handlers = handlersOf(t, [])
  const config = await handlers['sessions.config.get']({ sessionId: await make(t, CHOICE) }, context)
  expect(config).toMatchObject({ choice: CHOICE, choices: [{ choice: CHOICE, label: 'gpt-5', ready: false }] })
})

test('what the catalog knows is offered once', async () => {
  await using t = await createTestRuntime()
  const known = { choice: { ...CHOICE, effort: 'high' as const }, label: 'Work', ready: true, efforts: [] }
  const handlers = handlersOf(t, [known])
  const config = await handlers['sessions.config.get']({ sessionId: await make(t, CHOICE) }, context)
  expect(config.choices).toEqual([{ ...known, effect: { kind: 'next_turn', historyStripped: false } }])
})

test('of more models than a list can hold, each Provider has its part, and what runs is among them', async () => {
  await using t = await createTestRuntime()
  const option = (connectionId: string, at: number): RuntimeOption => ({
    choice: { connectionId, modelId: `m-${at}`, effort: 'default' },
    label: `m-${at}`,
    ready: true,
    efforts: [],
  })
  const options = [...Array(5_000).keys()].flatMap((at) =>
    at < 3 ? [option('c', at), option('d', at)] : [option('c', at)],
  )
  const handlers = handlersOf(t, options)
  const sessionId = await make(t, { ...CHOICE, modelId: 'm-4000' })
  const { choices } = await handlers['sessions.config.get']({ sessionId }, context)
  const of = (id: string) => choices.flatMap(({ choice }) => (choice.connectionId === id ? [choice.modelId] : []))
  expect(of('d')).toEqual(['m-0', 'm-1', 'm-2'])
  expect([of('c').length, of('c').at(-1)]).toEqual([501, 'm-4000'])
})

test('RT-A90 without a Provider nothing is offered, and mode and sandbox can be set', async () => {
  await using t = await createTestRuntime()
  const sessionId = await make(t)
  const handlers = handlersOf(t, [])
  const config = await handlers['sessions.config.get']({ sessionId }, context)
  expect(config).toMatchObject({ choice: { connectionId: null, modelId: null }, choices: [] })
  const set = { sessionId, expectedRev: config.rev, mode: 'plan' as const, allowHistoryStrip: false }
  const { rev } = await handlers['sessions.config.set'](set, context)
  await t.runtime.config.set({ sessionId, expectedRev: rev, sandbox: true })
  expect(t.runtime.sessions.get(sessionId)).toMatchObject({ mode: 'plan', sandbox: true })
})

test('a change of model and mode at once still says that the history was stripped', async () => {
  await using t = await createTestRuntime()
  const sessionId = await make(t, CHOICE)
  const runtimes: Pick<SessionRuntimes, 'set'> = {
    set: async ({ expectedRev }) => ({ rev: expectedRev, effect: { kind: 'next_turn', historyStripped: true } }),
  }
  const settings: Pick<Settings, 'get'> = { get: (() => false) as Settings['get'] }
  const handlers = sessionHandlers({
    runtime: t.runtime,
    runtimes: runtimes as SessionRuntimes,
    settings: settings as Settings,
    views: {} as Views,
    whyNotConfined: () => Promise.resolve(null),
  })
  const expectedRev = t.runtime.sessions.get(sessionId).rev
  const change = { sessionId, expectedRev, mode: 'plan' as const, choice: CHOICE, allowHistoryStrip: true }
  const { rev, effect } = await handlers['sessions.config.set'](change, context)
  expect(effect).toEqual({ kind: 'next_turn', historyStripped: true })
  expect(t.runtime.sessions.get(sessionId)).toMatchObject({ mode: 'plan', rev })
})

test('RT-A60 another Provider is one change of the row through the one door, and the model follows it', async () => {
  await using t = await createTestRuntime()
  const sessionId = await make(t, { ...CHOICE, effort: 'max' })
  const option = (connectionId: string, efforts: RuntimeOption['efforts']): RuntimeOption => ({
    choice: { connectionId, modelId: 'gpt-5', effort: 'default' },
    label: connectionId,
    ready: true,
    efforts,
  })
  const options = [option('c', ['low', 'max']), option('d', ['low', 'high'])]
  const handlers = handlersOf(t, options, {
    cascade: ({ choice }, connectionId) => cascade(options, choice, connectionId),
    set: async ({ choice, expectedRev, by }) => {
      const set = (tx: Tx) => t.runtime.config.applyChoice({ sessionId, choice, expectedRev, by }, tx)
      const { rev } = await t.store.writeTx(set)
      return { rev, effect: { kind: 'next_turn', historyStripped: false } }
    },
  })
  const before = t.runtime.sessions.get(sessionId).rev
  const set = { sessionId, expectedRev: before, connectionId: 'd', allowHistoryStrip: false }
  expect(await handlers['sessions.config.set'](set, context)).toMatchObject({ rev: before + 1 })
  expect(t.runtime.sessions.get(sessionId).choice).toEqual({ connectionId: 'd', modelId: 'gpt-5', effort: 'high' })
  const { events } = t.runtime.events.read({ sessionId, afterSeq: 0, limit: 100 })
  const changes = events.filter(({ type }) => type === 'config_changed')
  expect(changes.map(({ data }) => data)).toEqual([
    { rev: before + 1, changed: expect.objectContaining({ choice: expect.objectContaining({ connectionId: 'd' }) }) },
  ])
  await expect(handlers['sessions.config.set'](set, context)).rejects.toMatchObject({ code: 'config_conflict' })
})
