import { expect, test } from 'vitest'
import { ruleHandlers } from '../../../src/main/bridge/handlers/rules.ts'
import { runHandlers } from '../../../src/main/bridge/handlers/runs.ts'
import type { CallContext } from '../../../src/main/bridge/types.ts'
import { createViews } from '../../../src/main/bridge/views.ts'
import type { AgentExecutor, Agents, SessionRuntimes } from '../../../src/main/executor/index.ts'
import { procedures } from '../../../src/shared/bridge/index.ts'
import type { ProcedureInput } from '../../../src/shared/bridge/index.ts'
import type { Actor, AnswerOption } from '../../../src/shared/vocabulary.ts'
import { createTestRuntime, quiet } from '../runtime/support/runtime.ts'
import type { TestRuntime } from '../runtime/support/runtime.ts'

const window: Actor = { via: 'window', connection: 'w' }
const context: CallContext = {
  signal: new AbortController().signal,
  connection: { generation: 'g', kind: 'window', shows: null, focused: true },
  actor: window,
}

function bridgeOf({ runtime }: TestRuntime) {
  const executor: Pick<AgentExecutor, 'refusalReason'> = { refusalReason: () => null }
  const views = createViews({
    runtime,
    executor: executor as AgentExecutor,
    runtimes: {} as SessionRuntimes,
    agents: {} as Agents,
  })
  const runs = runHandlers({ runtime, views })
  const rules = ruleHandlers({ runtime })
  return {
    async history(input: ProcedureInput<'decisions.history'>) {
      const { input: schema, output } = procedures['decisions.history']
      return output.parse(await runs['decisions.history'](schema.parse(input), context))
    },
    async rules() {
      return procedures['rules.list'].output.parse(await rules['rules.list']({}, context)).rules
    },
    deleteRule: async (ruleId: string) => rules['rules.delete']({ ruleId }, context),
  }
}

/** The agent asks for `command`, and is answered; null: policy answers it. */
async function ask(t: TestRuntime, requestId: string, command: string, option: AnswerOption | null): Promise<void> {
  const action = { kind: 'command' as const, command, cwd: t.dir, wrapper: null }
  t.executor.last().ask({ requestId, toolCallId: requestId, action })
  await quiet()
  if (option === null) return
  const [pending] = t.runtime.decisions.pending(null)
  if (pending === undefined) throw new Error('nothing is pending')
  await t.runtime.decisions.resolve({ decisionId: pending.id, answer: { option }, by: window })
  await quiet()
}

test('a rule that an "always" left is listed, what it allowed names it, and deleted the agent is asked again', async () => {
  await using t = await createTestRuntime()
  const bridge = bridgeOf(t)
  const told: string[] = []
  using _watching = t.runtime.changes.subscribe(({ kind }) => kind === 'rules' && told.push(kind))
  await t.submit()
  await quiet()
  await ask(t, 'r1', 'npm install left-pad', 'allow_session')
  await ask(t, 'r2', 'npm install left-pad', null)
  const [rule] = await bridge.rules()
  expect(rule).toMatchObject({
    scope: 'session',
    sessionTitle: 'Work',
    matchKind: 'command_exact',
    pattern: 'npm install left-pad',
    effect: 'allow',
  })
  const { decisions } = await bridge.history({ sessionId: t.session.id })
  expect(decisions.map(({ ruleId, by }) => [ruleId, by?.via])).toEqual([
    [rule?.id, 'policy'],
    [undefined, 'window'],
  ])
  expect(decisions[1]?.decisionId).toBe(rule?.decisionId)
  expect(await bridge.deleteRule(rule?.id ?? '')).toEqual({ deleted: true })
  expect(await bridge.deleteRule(rule?.id ?? '')).toEqual({ deleted: false })
  await ask(t, 'r3', 'npm install left-pad', null)
  expect(t.runtime.decisions.pending(null)).toHaveLength(1)
  expect(told).toEqual(['rules', 'rules'])
})

test('the history goes back page by page over all sessions, and can be narrowed', async () => {
  await using t = await createTestRuntime()
  const bridge = bridgeOf(t)
  await t.submit()
  await quiet()
  await ask(t, 'r1', 'mkdir a', 'allow_once')
  await ask(t, 'r2', 'mkdir b', 'reject_once')
  await ask(t, 'r3', 'ls', null)
  await ask(t, 'r4', 'rm -rf c', 'reject_once')
  await ask(t, 'r5', 'mkdir d', null)
  const commands = (of: Awaited<ReturnType<typeof bridge.history>>): string[] =>
    of.decisions.map(({ action }) => (action.kind === 'command' ? action.command : ''))
  const first = await bridge.history({ limit: 3 })
  expect(commands(first)).toEqual(['mkdir d', 'rm -rf c', 'ls'])
  const rest = await bridge.history({ limit: 3, ...(first.next === null ? {} : { before: first.next }) })
  expect([commands(rest), rest.next]).toEqual([['mkdir b', 'mkdir a'], null])
  expect(commands(await bridge.history({ outcome: 'refused' }))).toEqual(['rm -rf c', 'mkdir b'])
  expect(commands(await bridge.history({ outcome: 'allowed', by: 'person' }))).toEqual(['mkdir a'])
  expect(commands(await bridge.history({ by: 'policy' }))).toEqual(['ls'])
  expect(commands(await bridge.history({ outcome: 'pending' }))).toEqual(['mkdir d'])
  expect(commands(await bridge.history({ risk: 'high' }))).toEqual(['rm -rf c'])
  t.executor.last().end()
  await t.clock.advance(200)
  expect(commands(await bridge.history({ outcome: 'unanswered' }))).toEqual(['mkdir d'])
})
