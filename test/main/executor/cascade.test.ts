import { expect, test } from 'vitest'
import { cascade } from '../../../src/main/executor/cascade.ts'
import type { RuntimeOption } from '../../../src/main/executor/index.ts'
import type { Effort } from '../../../src/shared/vocabulary.ts'

const option = (connectionId: string | null, modelId: string | null, efforts: Effort[] = []): RuntimeOption => ({
  choice: { connectionId, modelId, effort: 'default' },
  label: '',
  ready: true,
  efforts,
})
const OFFERED = [
  option('b', 'gpt-5', ['low', 'medium']),
  option('a', 'gpt-5', ['low', 'medium', 'high']),
  option('b', 'sonnet'),
  option('c', 'haiku'),
  option(null, null),
]
const from = (modelId: string, effort: Effort = 'default') => ({ connectionId: 'a', modelId, effort })

test('RT-A60 the same model is kept where the other Provider has it', () => {
  expect(cascade(OFFERED, from('gpt-5', 'medium'), 'b')).toEqual({
    connectionId: 'b',
    modelId: 'gpt-5',
    effort: 'medium',
  })
})

test('RT-A60 else its default is taken, and effort that the model does not know is left to the agent', () => {
  expect(cascade(OFFERED, from('gpt-5', 'high'), 'c')).toEqual({
    connectionId: 'c',
    modelId: 'haiku',
    effort: 'default',
  })
})

test('RT-A60 effort goes down to the nearest level that the model takes', () => {
  expect(cascade(OFFERED, from('gpt-5', 'max'), 'b')).toMatchObject({ effort: 'medium' })
  expect(cascade(OFFERED, from('gpt-5', 'minimal'), 'b')).toMatchObject({ effort: 'default' })
})

test("RT-A60 the agent's own login has no model of ours, and a Provider without any model is chosen all the same", () => {
  expect(cascade(OFFERED, from('gpt-5', 'high'), null)).toEqual({
    connectionId: null,
    modelId: null,
    effort: 'default',
  })
  expect(cascade(OFFERED, from('gpt-5', 'high'), 'empty')).toEqual({
    connectionId: 'empty',
    modelId: null,
    effort: 'default',
  })
})

test('RT-A60 the Provider of now changes nothing', () => {
  expect(cascade(OFFERED, from('unlisted', 'max'), 'a')).toEqual(from('unlisted', 'max'))
})
