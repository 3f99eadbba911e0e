import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileWords } from '../../../src/main/platform/text-scanner.ts'
import type { WordList } from '../../../src/main/platform/text-scanner.ts'

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

test('property: only a text without any of the words holds none', () => {
  fc.assert(
    fc.property(fc.array(letters(3, 6), { maxLength: 5 }), letters(0, 80), (words, text) => {
      if (!compileWords([words]).mayHold(text)) expect(words.filter((word) => text.includes(word))).toEqual([])
    }),
    { numRuns: 500 },
  )
  expect(compileWords([['needle']]).mayHold('a heap of hay')).toBe(false)
  expect(compileWords([]).mayHold('anything')).toBe(false)
})

test('property: the words of another list are found with its own', () => {
  const words = fc.array(letters(3, 6), { maxLength: 3 })
  fc.assert(
    fc.property(words, words, letters(0, 80), (own, others, text) => {
      const endsIn = (list: WordList): [number, number][] => {
        const found: [number, number][] = []
        list.scanner().scan(text, 0, (end, length) => found.push([end, length]))
        return found
      }
      const both = compileWords([own], compileWords([others]))
      expect(endsIn(both)).toEqual(endsIn(compileWords([own, others])))
    }),
    { numRuns: 300 },
  )
})

test('a word is found wherever it stands in a long text, and in a text that no byte holds', () => {
  const words = compileWords([['needle', 'n\u0165\u0165dle']])
  for (const word of ['needle', 'n\u0165\u0165dle']) {
    for (const before of [0, 16_378, 16_379, 16_381, 16_384, 16_389, 40_000]) {
      const text = `${'nee'.repeat(20_000).slice(0, before)}${word}${'ne'.repeat(1_000)}`
      const found: number[] = []
      words.scanner().scan(text, 0, (end) => found.push(end))
      expect(found).toEqual([before + word.length])
      expect(words.mayHold(text)).toBe(true)
    }
  }
})
