import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countChanges, diffLines, pairLines } from '../../../src/renderer/content/diff-lines.ts'

describe('the lines of a diff', () => {
  test('carry the numbers of both sides', () => {
    expect(diffLines('a\nb\nc\n', 'a\nB\nc\n')).toEqual([
      { kind: 'same', before: 1, after: 1, text: 'a' },
      { kind: 'del', before: 2, after: null, text: 'b' },
      { kind: 'add', before: null, after: 2, text: 'B' },
      { kind: 'same', before: 3, after: 3, text: 'c' },
    ])
  })

  test('say where lines were left out', () => {
    const before = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n')
    const lines = diffLines(before, before.replace('line 20', 'other'))
    expect(lines[0]?.kind).toBe('gap')
    expect(lines.filter((line) => line.kind === 'same')).toHaveLength(6)
  })

  test('a new file is all added, a removed one all removed', () => {
    expect(countChanges(diffLines(null, 'a\nb\n'))).toEqual({ added: 2, removed: 0 })
    expect(countChanges(diffLines('a\nb\n', null))).toEqual({ added: 0, removed: 2 })
  })

  test('side by side, no line is lost and none is made up', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '')).map((lines) => lines.join('\n'))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after)
        const rows = pairLines(lines)
        const changed = rows.flatMap((row) => (row.before === row.after ? [] : [row.before, row.after])).filter(Boolean)
        expect(changed).toHaveLength(lines.filter((line) => line.kind === 'add' || line.kind === 'del').length)
      }),
    )
  })
})
