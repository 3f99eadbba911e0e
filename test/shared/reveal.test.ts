import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { revealParts, revealText } from '../../src/shared/reveal.ts'

describe('text in which nothing hides', () => {
  test.each([
    ['\u202e', 'U+202E'],
    ['\u2066', 'U+2066'],
    ['\u200b', 'U+200B'],
    ['\ufeff', 'U+FEFF'],
    ['\u00ad', 'U+00AD'],
    ['\u00a0', 'U+00A0'],
    ['\u0000', 'U+0000'],
    ['\u{e0041}', 'U+E0041'],
  ])('DT-A22 names %j', (char, name) => {
    expect(revealParts(`rm${char}-rf`)).toEqual([
      { text: 'rm', hidden: false },
      { text: name, hidden: true },
      { text: '-rf', hidden: false },
    ])
  })

  test('leaves words, tabs and new lines alone', () => {
    expect(revealText('größe\t日本語\n🙂')).toBe('größe\t日本語\n🙂')
  })

  test('loses nothing: the names lead back to the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const back = revealParts(text).map((part) =>
          part.hidden ? String.fromCodePoint(Number.parseInt(part.text.slice(2), 16)) : part.text,
        )
        expect(back.join('')).toBe(text)
      }),
    )
  })
})
