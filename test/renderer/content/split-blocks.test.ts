import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodyOf, piecesOf } from '../../../src/renderer/content/CodeBlock.tsx'
import { createBlockSplitter, splitBlocks } from '../../../src/renderer/content/split-blocks.ts'

const line = fc.constantFrom(
  '',
  '',
  'a paragraph of some length '.repeat(20),
  'x'.repeat(21_000),
  '1',
  '1. item',
  '- item',
  '```',
  '```ts',
  '   ```',
  '~~~',
  '> said',
  '    code',
  '| cell |',
  '# head',
)
const markdown = fc.array(line, { maxLength: 60 }).map((lines) => lines.join('\n'))
const joined = (parts: readonly { text: string }[]): string => parts.map((part) => part.text).join('')
const ONE_BLOCK_CHARS = 20_000

describe('the parts of a long message', () => {
  test('together are the message', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        expect(joined(splitBlocks(text))).toBe(text)
      }),
    )
  })

  test('all but the last stay as they are while text is appended', () => {
    fc.assert(
      fc.property(markdown, markdown, (text, more) => {
        const settled = splitBlocks(text).slice(0, -1)
        expect(splitBlocks(text + more).slice(0, settled.length)).toEqual(settled)
      }),
    )
  })

  test('are the same whether the text came at once or in any chunks', () => {
    fc.assert(
      fc.property(
        markdown,
        fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 20 }),
        (text, sizes) => {
          const split = createBlockSplitter()
          for (let at = 0, turn = 0; at < text.length; turn++) {
            at += (sizes[turn % sizes.length] ?? 1) * 10
            expect(joined(split(text.slice(0, at)))).toBe(text.slice(0, at))
          }
          expect(split(text)).toEqual(splitBlocks(text))
        },
      ),
    )
  })

  test('are split anew where the text is another one', () => {
    const split = createBlockSplitter()
    split('word\n\n'.repeat(2_000))
    expect(split('other\n\n'.repeat(1_000))).toEqual(splitBlocks('other\n\n'.repeat(1_000)))
  })

  test('never cut a fence, however long', () => {
    const code = `\`\`\`\n${'const a = 1\n\n'.repeat(3_000)}\`\`\`\n`
    expect(splitBlocks(code)).toEqual([{ kind: 'code', text: code }])
  })

  test.each(['words without an end\n', '- a long list\n', '| a | row |\n', '  indented\n'])(
    'a block that never ends is parsed in bounded parts: %j',
    (repeated) => {
      for (const part of splitBlocks(repeated.repeat(10_000))) expect(part.text.length).toBeLessThan(ONE_BLOCK_CHARS)
    },
  )

  test('marks round code within a line begin no fence', () => {
    const text = `${'word\n\n'.repeat(400)}\`\`\`rm \`x\`\`\`\`\n`
    expect(splitBlocks(text).every(({ kind }) => kind === 'markdown')).toBe(true)
  })

  test('one line of a great length is not parsed', () => {
    expect(splitBlocks('x'.repeat(30_000)).map(({ kind }) => kind)).toEqual(['plain'])
  })
})

describe('the lines of a fence', () => {
  test('stand between its marks, whether the last came or not', () => {
    expect(bodyOf('```ts\nconst a = 1\n```\n')).toBe('const a = 1\n')
    expect(bodyOf('```ts\nconst a = 1\n')).toBe('const a = 1\n')
    expect(bodyOf('````\n```\n````')).toBe('```\n')
    expect(bodyOf('```ts')).toBe('')
  })

  test('in pieces are the text, and all but the last piece stay while it grows', () => {
    fc.assert(
      fc.property(markdown, markdown, (text, more) => {
        const pieces = piecesOf(text)
        expect(pieces.join('')).toBe(text)
        expect(piecesOf(text + more).slice(0, Math.max(0, pieces.length - 1))).toEqual(pieces.slice(0, -1))
      }),
    )
  })

  test('no piece ends inside of a character', () => {
    for (const piece of piecesOf('😀'.repeat(10_000))) expect(piece.isWellFormed()).toBe(true)
    for (const piece of piecesOf(`x${'😀'.repeat(10_000)}`)) expect(piece.isWellFormed()).toBe(true)
  })
})
