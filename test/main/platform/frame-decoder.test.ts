import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFrameDecoder, type DecodedFrame } from '../../../src/main/platform/frame-decoder.ts'

function decode(bytes: Uint8Array, cuts: readonly number[], maxBytes = 1_000): readonly DecodedFrame[] {
  const decoder = createFrameDecoder(maxBytes)
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b)]
  return places.flatMap((place, index) => decoder.push(bytes.subarray(place, places[index + 1])))
}

function codes(frames: readonly DecodedFrame[]): unknown[] {
  return frames.map((each) => (each.kind === 'frame' ? each.frame : each.error.code))
}

describe('frames', () => {
  test('property: any split of the bytes gives the same frames', () => {
    fc.assert(
      fc.property(fc.array(fc.json({ noUnicodeString: false })), fc.array(fc.nat(5_000)), (lines, cuts) => {
        const frames = lines.map((line) => JSON.parse(line) as unknown)
        const bytes = Buffer.from(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(''))
        expect(codes(decode(bytes, cuts, 100_000))).toEqual(JSON.parse(JSON.stringify(frames)))
      }),
    )
  })

  test('property: whatever comes, nothing is thrown, and the frame after it is read', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(400), { maxLength: 8 }), (noise, cuts) => {
        const frames = decode(Buffer.concat([noise, Buffer.from('\n{"ok":1}\n')]), cuts, 50)
        expect(codes(frames).at(-1)).toEqual({ ok: 1 })
      }),
    )
  })

  test('a line over the bound is told once, however it comes, and the next is read', () => {
    for (const cuts of [[], [3, 12, 20], [11], [31, 32]]) {
      const bytes = Buffer.from(`"${'x'.repeat(30)}"\n1\n`)
      expect(codes(decode(bytes, cuts, 10))).toEqual(['frame_too_large', 1])
    }
  })

  test('a line of exactly the bound is read', () => {
    expect(codes(decode(Buffer.from('"12345678"\n'), [], 10))).toEqual(['12345678'])
  })

  test.each([
    ['no JSON', '{]'],
    ['an empty line', ''],
    ['a byte order mark', '\ufeff1'],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ])('%s is frame_malformed', (_what, line) => {
    const bytes = Buffer.concat([Buffer.from(line), Buffer.from('\n')])
    expect(codes(decode(bytes, []))).toEqual(['frame_malformed'])
  })
})
