import { expect, test } from 'vitest'
import { canAnswerFor, claudeModel } from '../../../src/main/providers/contracts/claude-models.ts'

test.each([
  ['claude-opus-4-8', 1_000_000, 'Opus 4.8'],
  ['claude-sonnet-4-6', 200_000, 'Sonnet 4.6'],
  ['claude-sonnet-4-6[1m]', 1_000_000, 'Sonnet 4.6 (1M)'],
  ['claude-haiku-4-5-20251001', 200_000, 'Haiku 4.5'],
])('%s holds %d tokens', (id, contextWindowTokens, displayName) => {
  expect(claudeModel(id)).toEqual({ contextWindowTokens, displayName })
})

test('nothing is claimed of a model that Claude Code does not name', () => {
  expect(['claude-next', 'anthropic/claude-opus-4-8', '', '[1m]'].map(claudeModel)).toEqual([null, null, null, null])
})

test.each([
  ['claude-sonnet-5', 'claude-opus-4-8', true],
  ['claude-haiku-4-5', 'claude-sonnet-4-6', true],
  ['claude-haiku-4-5', 'claude-sonnet-4-6[1m]', false],
  ['claude-sonnet-4-6', 'claude-opus-4-8', false],
  ['unknown', 'claude-opus-4-8', true],
  ['claude-haiku-4-5', 'unknown', true],
])('%s answers for %s: %s', (model, clientModel, can) => {
  expect(canAnswerFor(model, clientModel)).toBe(can)
})
