import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createJsonScanner, MAX_JSON_DEPTH } from '../../../../src/main/providers/router/json-scanner.ts'
import type { JsonVisitor } from '../../../../src/main/providers/router/json-scanner.ts'

type Token = readonly unknown[]

function recording(enters: (depth: number) => boolean = () => true): { visitor: JsonVisitor; tokens: Token[] } {
  const tokens: Token[] = []
  return {
    tokens,
    visitor: {
      wantsText: () => true,
      key: (...token) => void tokens.push(['key', ...token]),
      open(...token) {
        tokens.push(['open', ...token])
        return enters(token[1])
      },
      close: (...token) => void tokens.push(['close', ...token]),
      scalar: (...token) => void tokens.push(['scalar', ...token]),
    },
  }
}

function scan(
  chunks: readonly Uint8Array[],
  visitDepth?: number,
  enters?: (depth: number) => boolean,
): Token[] | string {
  const { visitor, tokens } = recording(enters)
  const scanner = createJsonScanner(visitor, visitDepth)
  try {
    for (const chunk of chunks) scanner.write(chunk)
    scanner.end()
    return tokens
  } catch (error) {
    return String(error)
  }
}

const isEscape = (byte: number | undefined): boolean => 'bfnrt"/\\'.includes(String.fromCharCode(byte ?? 0))

const bytes = (text: string): Buffer => Buffer.from(text, 'utf8')
const whitespace = fc.constantFrom('', ' ', '\n', '\t', '\r\n')

describe('the scanner', () => {
  test('reads what JSON.parse reads, and refuses what it refuses', () => {
    const nearJson = fc.oneof(
      fc.json(),
      fc.json().map((text) => text.slice(0, -1)),
      fc.string({ unit: fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', '1', '0', '-', '.', 'e', 't', ' ') }),
      fc.constantFrom('01', '-', '1.', '1e', '1e+', '-0', '1E-2', 'tru', 'nullx', '"\\u12"', '[1,]', '{"a":1,}', ''),
    )
    fc.assert(
      fc.property(nearJson, (text) => {
        let parses = true
        try {
          JSON.parse(text)
        } catch {
          parses = false
        }
        expect(typeof scan([bytes(text)]) !== 'string').toBe(parses)
      }),
      { numRuns: 500 },
    )
  })

  test('stops at every byte that is not plain, wherever it stands in a long string', () => {
    const long = Buffer.from(`"${'plain text '.repeat(4)}"`)
    for (let byte = 0; byte < 256; byte++) {
      // Ends the string, begins an escape, or cannot stand alone: the rest is then no JSON.
      const refused = byte < 0x20 || byte === 0x22 || byte === 0x5c || byte >= 0x80
      for (let place = 1; place < 18; place++) {
        const text = Buffer.from(long)
        text[place] = byte
        const expected = refused && !(byte === 0x5c && isEscape(text[place + 1]))
        expect([byte, place, typeof scan([text]) === 'string']).toEqual([byte, place, expected])
      }
    }
  })

  test('answers the same wherever in memory a chunk begins', () => {
    const text = bytes(JSON.stringify({ model: 'm', text: `${'plain '.repeat(9)}"${'ä\u0000\\'.repeat(3)}` }))
    const tokens = scan([text])
    for (let shift = 0; shift < 8; shift++) {
      const room = new Uint8Array(text.length + 16)
      room.set(text, shift)
      expect(scan([room.subarray(shift, shift + text.length)])).toEqual(tokens)
    }
  })

  test('answers the same at every split', () => {
    const document = fc.tuple(fc.json(), whitespace, whitespace).map(([json, before, after]) => before + json + after)
    fc.assert(
      fc.property(document, (text) => {
        const whole = bytes(text)
        const expected = scan([whole])
        for (let at = 0; at <= whole.length; at++) {
          expect(scan([whole.subarray(0, at), whole.subarray(at)])).toEqual(expected)
        }
        expect(scan(Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  test('what is too deep for its visitor, or not entered, is checked all the same, and everything above it is told', () => {
    const depthOf = ([kind, first, second, third]: Token): number =>
      Number(kind === 'key' || kind === 'open' || kind === 'close' ? second : kind === 'scalar' ? third : first)
    const words = fc.constantFrom(
      'a',
      'some plain words of a text '.repeat(4),
      'ž',
      'žluťoučký kůň 日本語 🙂 '.repeat(3),
      '"',
      '\\',
      '\n',
    )
    const text = fc.array(words, { maxLength: 4 }).map((parts) => parts.join(''))
    const value = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, text, fc.integer(), fc.constant(null), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(text, tie('value'), { maxKeys: 3 }),
    })).value
    const damage = fc.option(fc.record({ at: fc.nat(), byte: fc.nat(255) }), { freq: 2 })
    fc.assert(
      fc.property(
        value,
        fc.constantFrom(0, 2),
        damage,
        fc.nat(4),
        fc.integer({ min: 1, max: 90 }),
        (of, indent, hit, depth, size) => {
          const whole = bytes(JSON.stringify([[of]], null, indent))
          if (hit !== null) whole[hit.at % whole.length] = hit.byte
          const chunks: Uint8Array[] = []
          for (let at = 0; at < whole.length; at += size) chunks.push(whole.subarray(at, at + size))
          const all = scan([whole])
          const told = typeof all === 'string' ? all : all.filter((token) => depthOf(token) <= depth)
          expect(scan([whole], depth)).toEqual(told)
          expect(scan(chunks, depth)).toEqual(told)
          expect(scan(chunks, MAX_JSON_DEPTH, (at) => at < depth)).toEqual(told)
        },
      ),
      { numRuns: 400 },
    )
  })

  test('no string that begins with the letters looked out for goes by, whatever its depth and wherever a chunk ends', () => {
    const spelled = fc.constantFrom(
      'compaction',
      'compaction_trigger',
      'com',
      'c',
      '',
      'a compaction',
      '\n',
      'žc',
      '🙂',
    )
    const value = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, spelled, fc.integer(), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(fc.constantFrom('type', 'input', 'compaction'), tie('value'), { maxKeys: 3 }),
    })).value
    fc.assert(
      fc.property(value, fc.boolean(), fc.constantFrom(0, 2, MAX_JSON_DEPTH), (of, escapes, depth) => {
        const text = JSON.stringify({ of })
        const whole = bytes(escapes ? text.replaceAll('compaction', 'c\\u006fmpaction') : text)
        for (let at = 0; at <= whole.length; at++) {
          const scanner = createJsonScanner(recording(() => false).visitor, depth, bytes('compaction'))
          scanner.write(whole.subarray(0, at))
          scanner.write(whole.subarray(at))
          scanner.end()
          // Where a chunk ends behind a backslash, what it hides may be one.
          const isHidden = whole[at - 1] === 0x5c
          expect([at, scanner.met() || isHidden]).toEqual([at, text.includes('"compaction') || isHidden])
        }
      }),
      { numRuns: 150 },
    )
  })

  test('spans are exact: each scalar’s bytes parse to its value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const whole = bytes(JSON.stringify(value))
        const tokens = scan([whole])
        expect(Array.isArray(tokens)).toBe(true)
        for (const [kind, type, text, , start, end] of tokens as Token[]) {
          if (kind !== 'scalar' || type === 'literal') continue
          const parsed: unknown = JSON.parse(whole.subarray(Number(start), Number(end)).toString('utf8'))
          expect(type === 'number' ? Number(text) : text).toBe(parsed)
        }
      }),
    )
  })

  test.each([
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['a lone continuation', [0x80]],
    ['a cut character', [0xe2, 0x82]],
  ])('refuses %s', (_name, inside) => {
    const text = Buffer.concat([bytes('"'), Buffer.from(inside), bytes('"')])
    expect(scan([text])).toContain('UTF-8')
    expect(scan(Array.from(text, (byte) => Uint8Array.of(byte)))).toContain('UTF-8')
  })

  test('takes 128 levels and refuses 129', () => {
    expect(Array.isArray(scan([bytes('['.repeat(128) + ']'.repeat(128))]))).toBe(true)
    expect(scan([bytes('['.repeat(129) + ']'.repeat(129))])).toContain('nested deeper')
  })
})
