import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLineReader, parseJsonLine } from '../../../../src/main/workers/text/line-reader.ts'

function read(chunks: readonly Uint8Array[], maxBytes = 1_000): { lines: string[]; ok: boolean } {
  const lines: string[] = []
  const reader = createLineReader(maxBytes, (line) => lines.push(Buffer.from(line).toString('utf8')))
  let ok = true
  for (const chunk of chunks) ok = reader.push(chunk) && ok
  reader.end()
  return { lines, ok }
}

describe('an agent’s lines', () => {
  test('WK-37 a character over two chunks is whole, CRLF is dropped, a last line needs no line feed', () => {
    const bytes = Buffer.from('{"a":"€"}\r\n\r\n  \n"last"')
    const cut = bytes.indexOf(0xe2) + 1
    expect(read([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual({ lines: ['{"a":"€"}', '"last"'], ok: true })
  })

  test('WK-37 what is not UTF-8 or not JSON is no value', () => {
    expect(parseJsonLine(Buffer.from([0x22, 0xff, 0x22]))).toBeUndefined()
    expect(parseJsonLine(Buffer.from('{"a":'))).toBeUndefined()
    expect(parseJsonLine(Buffer.from('null'))).toBeNull()
  })

  test('WK-36 a line of the bound passes, one byte more ends it', () => {
    expect(read([Buffer.from(`${'x'.repeat(10)}\n`)], 10)).toEqual({ lines: ['x'.repeat(10)], ok: true })
    expect(read([Buffer.from(`ok\n${'x'.repeat(11)}\nlost\n`)], 10)).toEqual({ lines: ['ok'], ok: false })
    expect(read([Buffer.from('x'.repeat(6)), Buffer.from('x'.repeat(5))], 10)).toEqual({ lines: [], ok: false })
  })

  test('however the bytes are cut, the lines are the same', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll(/[\r\n]/g, ''))),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        (lines, sizes) => {
          const bytes = Buffer.from(`${lines.join('\n')}\n`)
          const chunks: Uint8Array[] = []
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1
            chunks.push(bytes.subarray(at, at + size))
            at += size
          }
          const filled = lines.filter((line) => !/^[ \t]*$/.test(line))
          expect(read(chunks, 1_000_000)).toEqual({ lines: filled, ok: true })
        },
      ),
    )
  })
})
