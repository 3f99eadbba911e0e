import { expect, test } from 'vitest'
import { FAILURES } from '../../../../src/main/runtime/execution/failures.ts'
import { remedyOf } from '../../../../src/renderer/features/session/remedy.ts'

test('every way in which a run ends early says what to do about it, but for the one that a person chose', () => {
  expect(Object.keys(FAILURES).filter((code) => remedyOf(code) === null)).toEqual(['run_cancelled'])
})
