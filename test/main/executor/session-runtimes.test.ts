import { expect, test } from 'vitest'
import { createSessionRuntimes, OWN_LOGIN } from '../../../src/main/executor/session-runtimes.ts'
import { AppError } from '../../../src/shared/errors.ts'

type Deps = Parameters<typeof createSessionRuntimes>[0]

const choice = { connectionId: 'c', modelId: 'big', effort: 'default' } as const
const runtimes = createSessionRuntimes({
  agents: { get: () => ({ client: 'builtin', label: 'Built-in agent', ownLogin: false }) },
  providers: {
    failure: () => null,
    choices: () => [{ choice, label: 'Big', connectionName: 'Work', efforts: [], ready: true }],
  },
} as unknown as Deps)

test('a choice is called by its model, by its Provider where that picks the model, and as gone where there is none', () => {
  expect(runtimes.labelOf('builtin', choice)).toBe('Big')
  expect(runtimes.labelOf('builtin', { ...choice, modelId: null })).toBe('Work')
  expect(runtimes.labelOf('builtin', { ...choice, modelId: 'old' })).toBe('old')
  expect(runtimes.labelOf('builtin', { ...choice, connectionId: 'x', modelId: null })).toBe(
    'A Provider that is no longer there',
  )
})

test('beside an own login a model is called by its Provider, too', () => {
  const beside = createSessionRuntimes({
    agents: { get: () => ({ client: 'codex', label: 'Codex', ownLogin: true }) },
    providers: {
      failure: () => null,
      choices: () => [{ choice, label: 'Big', connectionName: 'Work', efforts: [], ready: true }],
    },
  } as unknown as Deps)
  expect(beside.options('codex').map(({ label }) => label)).toEqual(['Work · Big', 'Codex’s own login'])
  expect(beside.labelOf('codex', choice)).toBe('Work · Big')
})

test("the agent's own login is asked for like a Provider, and nobody can say while the catalog cannot be read", () => {
  const asked: unknown[] = []
  const over = (failure: AppError | null) =>
    createSessionRuntimes({
      agents: { get: () => ({ client: 'codex', label: 'Codex', ownLogin: true }) },
      providers: {
        failure: () => failure,
        previewRuntime(change: unknown) {
          asked.push(change)
          return { kind: 'refused', code: 'route_binding_incompatible' }
        },
      },
    } as unknown as Deps)
  const session = { id: 's', agentId: 'codex' as const }
  expect(over(null).preview(session, OWN_LOGIN)).toMatchObject({ kind: 'refused' })
  expect(asked).toEqual([{ sessionId: 's', client: 'codex', choice: OWN_LOGIN, allowHistoryStrip: false }])
  expect(over(new AppError('model_profiles_unavailable', 'x')).preview(session, OWN_LOGIN)).toBeNull()
})
