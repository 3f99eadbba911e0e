import { expect, test } from 'vitest'
import { endedAtOnce, unreadableLines } from '../../../../src/main/workers/drivers/shared/probe-ends.ts'

test('a probe gives up on a program that sends too many lines, or too much, that cannot be read', () => {
  const failed: string[] = []
  const lines = unreadableLines('X', { invalidLines: 2, invalidBytes: 100 }, (error) => failed.push(error.code))
  lines(1)
  lines(1)
  expect(failed).toEqual([])
  lines(1)
  unreadableLines('X', { invalidLines: 2, invalidBytes: 100 }, (error) => failed.push(error.message))(101)
  expect(failed).toEqual(['worker_protocol_error', 'X sent too much that cannot be read.'])
})

test('one that ended is quoted only where it said something', () => {
  expect(endedAtOnce('X', '').message).toBe('X ended at once and said nothing.')
  expect(endedAtOnce('X', 'no').message).toBe('X ended at once. It said: no')
})
