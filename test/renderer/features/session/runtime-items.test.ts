import { expect, test } from 'vitest'
import { choiceItems, keyOf } from '../../../../src/renderer/features/session/runtime-items.ts'
import type { ConfigView } from '../../../../src/shared/bridge/index.ts'
import { aSession } from '../../support/sessions.ts'

test('a list of models that is too long to look through ends with what to do about it', () => {
  const choice = (at: number) => ({ connectionId: 'c', modelId: `m-${at}`, effort: 'default' as const })
  const config: ConfigView = {
    rev: 1,
    mode: { value: 'agent', options: [] },
    choice: choice(650),
    choices: Array.from({ length: 700 }, (_, at) => ({
      choice: choice(at),
      label: `m-${at}`,
      ready: true,
      efforts: [],
      effect: null,
    })),
    source: 'catalog',
  }
  const items = choiceItems(config, aSession(), null)
  expect(items).toHaveLength(502)
  expect(items.slice(-2)).toMatchObject([{ value: keyOf(choice(650)) }, { value: 'more', disabled: true }])
})
