import { describe, expect, test } from 'vitest'
import { createFailpoints, isTestBuild } from '../../../src/main/platform/failpoints.ts'

describe('failpoints', () => {
  test('do nothing unless they are enabled, whatever the environment says', () => {
    const { hit } = createFailpoints({ enabled: false, env: { WHEELHOUSE_FAILPOINT: 'a:fail' } })
    expect(() => hit('a')).not.toThrow()
  })

  test('fail at the named places alone', () => {
    const { hit } = createFailpoints({ enabled: true, env: { WHEELHOUSE_FAILPOINT: 'a:fail,b:fail' } })
    expect(() => hit('a')).toThrow('failpoint a')
    expect(() => hit('b')).toThrow('failpoint b')
    expect(() => hit('c')).not.toThrow()
  })

  test.each(['a', 'a:stop', ':fail'])('a word nobody understands (%s) is told at once', (text) => {
    expect(() => createFailpoints({ enabled: true, env: { WHEELHOUSE_FAILPOINT: text } })).toThrow(
      'WHEELHOUSE_FAILPOINT',
    )
  })

  test('only an explicit environment makes a run from source a test build', () => {
    expect([{}, { WHEELHOUSE_TEST_BUILD: 'yes' }, { WHEELHOUSE_TEST_BUILD: '1' }].map(isTestBuild)).toEqual([
      false,
      false,
      true,
    ])
  })
})
