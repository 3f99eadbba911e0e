import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileWords } from '../../../src/main/platform/text-scanner.ts'

// Few letters, so that words begin, overlap and break off everywhere.
const letters = (min: number, max: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'ü', '\u0162'), minLength: min, maxLength: max })

test('property: finds the longest word wherever one ends, however the text is cut', () => {
  fc.assert(
    fc.property(fc.array(letters(3, 6), { maxLength: 5 }), letters(0, 80), fc.nat(80), (words, text, place) => {
      const found: string[] = []
      const scanner = compileWords([words]).scanner()
      const cut = Math.min(place, text.length)
      scanner.scan(text.slice(0, cut), 0, (end, length) => found.push(`${end - length}-${end}`))
      scanner.scan(text, cut, (end, length) => found.push(`${end - length}-${end}`))
      const expected: string[] = []
      for (let end = 1; end <= text.length; end++) {
        const longest = Math.max(0, ...words.filter((word) => text.slice(0, end).endsWith(word)).map((w) => w.length))
        if (longest > 0) expected.push(`${end - longest}-${end}`)
      }
      expect(found).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})

test('property: no word begins before the candidate', () => {
  fc.assert(
    fc.property(
      fc.array(letters(3, 6), { minLength: 1, maxLength: 5 }),
      letters(0, 80),
      fc.nat(80),
      (words, text, from) => {
        const first = Math.min(
          ...words.map((word) => text.indexOf(word, from)).map((at) => (at === -1 ? Infinity : at)),
        )
        const candidate = compileWords([words]).candidate(text, from)
        if (candidate === -1) expect(first).toBe(Infinity)
        else expect(candidate).toBeLessThanOrEqual(first)
      },
    ),
    { numRuns: 500 },
  )
})

test('without a word there is nothing to find', () => {
  expect(compileWords([]).candidate('anything', 0)).toBe(-1)
})
