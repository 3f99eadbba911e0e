import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  HEAD_BYTES,
  lay,
  layHead,
  layLookout,
  lineEnd,
  lookOut,
  skim,
  skipEvents,
  stringEnd,
} from '../../../../src/main/providers/router/simd/index.ts'
import type { JsonPlace } from '../../../../src/main/providers/router/simd/index.ts'

function placeOf(given: Partial<JsonPlace> = {}): JsonPlace {
  const nowhere = { state: 0, depth: 0, isKey: false, escaped: false, met: false, matched: -1 }
  return { ...nowhere, stack: new Uint8Array(128), ...given }
}

/** What was laid before stands behind every shorter text: nothing of it may be read as part of that. */
function layBehind(text: string): Buffer {
  lay(Buffer.from('"\\\n\r'.repeat(64)))
  const bytes = Buffer.from(text)
  lay(bytes)
  return bytes
}

/** Mostly plain, so that what is special stands at every place of a block of sixteen. */
const stringText = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('a', 'plain words', 'é', '𝄞', 'n', 'u') },
      fc.constantFrom('\\n', '\\"', '\\\\', '\\u00e9', '\\x', '\\u00g0', '\\', '"', '\n', '\u007f'),
    ),
    { maxLength: 24 },
  )
  .map((parts) => parts.join(''))

describe('the end of a string', () => {
  test('stands where one byte after another finds it', () => {
    fc.assert(
      fc.property(stringText, fc.nat(20), (text, skip) => {
        const bytes = layBehind(text)
        const from = Math.min(skip, bytes.length)
        expect(stringEnd(placeOf(), from)).toBe(endByBytes(bytes, from))
      }),
    )
  })

  test('tells whether there was an escape', () => {
    for (const [text, escaped] of [
      ['plain"', false],
      ['a\\nb"', true],
    ] as const) {
      const place = placeOf()
      layBehind(text)
      stringEnd(place, 0)
      expect(place.escaped).toBe(escaped)
    }
  })
})

function endByBytes(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    if (byte === 0x22 || byte < 0x20) return at
    const escape = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(bytes.toString('latin1', at, at + 6))?.[0].length
    if (byte === 0x5c && escape === undefined) return at
    at += escape ?? 1
  }
  return bytes.length
}

describe('what nobody wants', () => {
  test.each([
    ['{"a":["b",{}]}]', 14],
    ['["a" , "b"\n]x', 12],
    ['"a":1', 3],
    ['[1]', 1],
    ['{"a" "b"}', 5],
    ['[}', 1],
    ['"cut', 4],
    ['"\\', 1],
  ])('%s is passed over as far as it is in order', (text, end) => {
    layBehind(text)
    // Inside of an array of depth 0, whose end is wanted.
    const place = placeOf({ state: 1, depth: 1 })
    expect(skim(place, 0, 0, 0)).toBe(end)
  })

  test('nesting ends at 128, and is told', () => {
    layBehind('['.repeat(200))
    const place = placeOf({ state: 1, depth: 1 })
    expect(skim(place, 0, 0, 0)).toBe(127)
    expect(place.depth).toBe(128)
  })

  test('a string that begins as one that is looked out for is met, across a cut too', () => {
    const letters = Buffer.from('whc1.')
    const met = (...pieces: string[]): boolean => {
      const place = placeOf({ state: 1, depth: 1 })
      for (const [index, piece] of pieces.entries()) {
        layLookout(letters)
        layBehind(piece)
        if (index === 0) skim(place, 0, 0, letters.length)
        else if (place.matched >= 0) lookOut(place, 0, letters.length)
      }
      return place.met
    }
    expect([
      met('"whc1.x"'),
      met('"whc', '1.x"'),
      met('"w\\u0068c1."'),
      met('"whc2."', '"x"'),
      met('["a","b"]'),
    ]).toEqual([true, true, true, false, false])
  })
})

describe('a stream', () => {
  test('lines end where they end, at every place', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'words '.repeat(9), '\t', '\n', '\r', 'é'), maxLength: 40 }),
        (text) => {
          const bytes = layBehind(text)
          for (let from = 0; from < bytes.length; from++) {
            const found = bytes.subarray(from).findIndex((byte) => byte === 0x0a || byte === 0x0d)
            expect(lineEnd(from)).toBe(found === -1 ? bytes.length : from + found)
          }
        },
      ),
    )
  })

  test('whole events of a name are passed over; one that is cut, has more lines or another end is not', () => {
    const head = Buffer.from('event: content_block_delta\n')
    expect(head.length).toBeGreaterThanOrEqual(HEAD_BYTES.least)
    const whole = `${head.toString()}data: {"text":"some words"}\n\n`
    const skipped = (text: string): number => {
      layHead(head)
      layBehind(text)
      return skipEvents(0, head.length)
    }
    expect(skipped(whole.repeat(3))).toBe(whole.length * 3)
    expect(skipped(`${whole}event: message_delta\ndata: {}\n\n`)).toBe(whole.length)
    expect(skipped(whole + whole.slice(0, -1))).toBe(whole.length)
    expect(skipped(whole + whole.slice(0, 20))).toBe(whole.length)
    expect(skipped(`${head.toString()}data: a\ndata: b\n\n`)).toBe(0)
    expect(skipped(`${head.toString()}data: a\r\n\r\n`)).toBe(0)
    expect(skipped(`${head.toString()}event: message_delta\n\n`)).toBe(0)
    expect(skipped('event: content_block_stop_\ndata: a\n\n')).toBe(0)
  })

  test('of a long text, all events up to the first other one are passed over, wherever that stands', () => {
    const head = 'event: content_block_delta\n'
    const passed = /event: content_block_delta\ndata:[^\r\n\t]*\n\n/y
    const event = fc.oneof(
      { weight: 200, arbitrary: fc.nat(300).map((length) => `${head}data: ${'x'.repeat(length)}\n\n`) },
      fc.constant(`${head}data: ${'long '.repeat(600)}\n\n`),
      fc.constantFrom(
        `${head}data: a\ndata: b\n\n`,
        `${head}data: a\tb\n\n`,
        `${head}data: a\r\n\r\n`,
        `${head}data: a\n\n\n`,
        `${head}\n`,
        'event: message_delta\ndata: {}\n\n',
        ': a comment\n\n',
        '\r\n\n',
      ),
    )
    const text = fc.array(event, { minLength: 1, maxLength: 120, size: 'max' }).map((events) => events.join(''))
    fc.assert(
      fc.property(text, fc.nat(400), (whole, cut) => {
        const laid = whole.slice(0, Math.max(0, whole.length - cut))
        let end = 0
        passed.lastIndex = 0
        while (passed.test(laid)) end = passed.lastIndex
        layHead(Buffer.from(head))
        layBehind(laid)
        expect(skipEvents(0, head.length)).toBe(end)
      }),
    )
  })
})
