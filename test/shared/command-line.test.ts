import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { joinCommandLine, splitCommandLine } from '../../src/shared/command-line.ts'

describe('a command line', () => {
  test.each([
    ['gemini --acp', ['gemini', '--acp']],
    ['  spaced   out\t', ['spaced', 'out']],
    [`sh -c 'echo "$HOME" | wc'`, ['sh', '-c', 'echo "$HOME" | wc']],
    ['"C:/Program Files/a" b', ['C:/Program Files/a', 'b']],
    [String.raw`a\ b "c\"d\n" ''`, ['a b', String.raw`c"d\n`, '']],
    ['a > b && c $(d)', ['a', '>', 'b', '&&', 'c', '$(d)']],
  ])('%s is cut into words', (text, words) => {
    expect(splitCommandLine(text)).toEqual(words)
  })

  test.each(['', '   ', "open 'quote", 'open "quote', 'ends with \\', "'' not a program"])('%s is none', (text) => {
    expect(splitCommandLine(text)).toBe(null)
  })

  test('any words that are joined are cut into the same words', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.array(fc.string()), (command, args) => {
        expect(splitCommandLine(joinCommandLine([command, ...args]))).toEqual([command, ...args])
      }),
    )
  })
})
