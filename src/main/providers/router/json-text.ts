/** What the scanner knows of text: which bytes are characters, and what stands for itself inside of a string. */
import { isUtf8 } from 'node:buffer'

/** Of each byte in a word. */
const HIGH_BITS = 0x80808080 | 0
/** All but quote, backslash and control characters. */
const PLAIN = byteTable((byte) => byte >= 0x20 && byte !== 0x22 && byte !== 0x5c)
/** A run that is plain for so long is likely to go on: from there on by whole words. */
const NEAR = 12

/** A chunk four bytes at a time. `start`: the index in the chunk at which the first word stands. */
export interface Words {
  readonly view: Int32Array
  readonly start: number
}

export function wordsOf({ buffer, byteOffset, length }: Uint8Array): Words {
  const start = -byteOffset & 3
  const count = (length - start) >> 2
  return { view: count > 0 ? new Int32Array(buffer, byteOffset + start, count) : new Int32Array(0), start }
}

/** In a chunk of whole characters: where the next byte stands that does not stand for itself in a string; else the length. */
export function plainEnd(chunk: Uint8Array, words: Words, from: number): number {
  const { length } = chunk
  const near = Math.min(length, from + NEAR)
  let at = from
  while (at < near && PLAIN[chunk[at] as number] === 1) at++
  if (at < near || at === length) return at
  // On to where a word begins: what is passed over is looked at once more, which is harmless.
  at = skipPlain(words, at - ((at - words.start) & 3))
  while (at < length && PLAIN[chunk[at] as number] === 1) at++
  return at
}

/** From the index of a word on, behind the last one that is plain as a whole. */
function skipPlain({ view, start }: Words, from: number): number {
  let at = (from - start) >> 2
  for (const last = view.length - 4; at <= last; at += 4) {
    const a = notPlain(view[at] as number) | notPlain(view[at + 1] as number)
    const b = notPlain(view[at + 2] as number) | notPlain(view[at + 3] as number)
    if (((a | b) & HIGH_BITS) !== 0) break
  }
  while (at < view.length && (notPlain(view[at] as number) & HIGH_BITS) === 0) at++
  return start + (at << 2)
}

/**
 * The high bit of a byte is set where that is not plain. A subtraction borrows from the next byte only below one that is
 * not: at worst a word is looked at that need not be (S. E. Anderson, Bit Twiddling Hacks: "a byte less than n").
 */
function notPlain(word: number): number {
  const quote = word ^ 0x22222222
  const backslash = word ^ 0x5c5c5c5c
  return ((word - 0x20202020) & ~word) | ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash)
}

/** Behind the last character that the chunk holds whole. */
export function borderOf(chunk: Uint8Array): number {
  const { length } = chunk
  for (let at = length - 1; at >= 0 && at > length - 4; at--) {
    const byte = chunk[at] as number
    if (byte < 0x80) break
    if (byte >= 0xc0) return at + sizeOf(byte) <= length ? length : at
  }
  return length
}

/** How much of it is UTF-8. */
export function validEnd(text: Uint8Array): number {
  if (isUtf8(text)) return text.length
  let at = 0
  for (let size = 1; at < text.length; at += size) {
    size = sizeOf(text[at] as number)
    if (size > 1 ? !isUtf8(text.subarray(at, at + size)) : (text[at] as number) >= 0x80) break
  }
  return at
}

/** In bytes, of the character that begins with this one. */
export function sizeOf(lead: number): number {
  return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
}

export function byteTable(holds: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (holds(byte) ? 1 : 0))
}
