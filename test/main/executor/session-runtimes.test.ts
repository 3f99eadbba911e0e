import { expect, test } from 'vitest'
import { createSessionRuntimes } from '../../../src/main/executor/session-runtimes.ts'

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
