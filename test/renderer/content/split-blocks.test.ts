import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitBlocks } from '../../../src/renderer/content/split-blocks.ts'

const line = fc.constantFrom(
  '',
  '',
  'a paragraph of some length '.repeat(20),
  '- item',
  '```',
  '~~~',
  '> said',
  '    code',
  '# head',
)
const markdown = fc.array(line, { maxLength: 60 }).map((lines) => lines.join('\n'))

describe('the parts of a long message', () => {
  test('together are the message', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        expect(splitBlocks(text).join('')).toBe(text)
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

  test('never cut a fence', () => {
    const code = `\`\`\`\n${'const a = 1\n\n'.repeat(300)}\`\`\`\n`
    expect(splitBlocks(code)).toHaveLength(1)
  })
})
