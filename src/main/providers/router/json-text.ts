/** What the scanner knows of bytes inside of strings: most of a body, and passed over by whole words. */

/** Of each byte in a word. */
const HIGH_BITS = 0x80808080 | 0
/** What stands for itself inside a string: ASCII but for quote, backslash and control characters. */
const PLAIN = byteTable((byte) => byte >= 0x20 && byte < 0x80 && byte !== 0x22 && byte !== 0x5c)

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

/**
 * Most of a body is plain text inside of strings: passes over as much of it as whole words hold, from the index of a word
 * on. A subtraction borrows from the next byte only where a byte is not plain, so that no word with such a byte is missed.
 */
function skipPlain({ view, start }: Words, from: number): number {
  let at = (from - start) >> 2
  for (const last = view.length - 4; at <= last; at += 4) {
    const a = view[at] as number
    const b = view[at + 1] as number
    const c = view[at + 2] as number
    const d = view[at + 3] as number
    if (((notPlain(a) | notPlain(b) | notPlain(c) | notPlain(d)) & HIGH_BITS) !== 0) break
  }
  while (at < view.length && (notPlain(view[at] as number) & HIGH_BITS) === 0) at++
  return start + (at << 2)
}

/** From any index on: where the next byte stands that is not plain; the chunk's length where none does. */
export function plainEnd(chunk: Uint8Array, words: Words, from: number): number {
  let at = from
  while (at < chunk.length && PLAIN[chunk[at] as number] === 1) {
    at++
    if (((at - words.start) & 3) === 0) at = skipPlain(words, at)
  }
  return at
}

function notPlain(word: number): number {
  return word | (word - 0x20202020) | ((word ^ 0x22222222) - 0x01010101) | ((word ^ 0x5c5c5c5c) - 0x01010101)
}

/** Where the byte stands next; the chunk's length where it does not. */
export function indexOf(chunk: Buffer, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from)
  return at === -1 ? chunk.length : at
}

/** Behind the last character that the chunk holds whole. */
export function borderOf(chunk: Uint8Array, from: number): number {
  const { length } = chunk
  for (let at = length - 1; at >= from && at > length - 4; at--) {
    const byte = chunk[at] as number
    if (byte < 0x80) break
    if (byte >= 0xc0) return at + (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) <= length ? length : at
  }
  return length
}

export function holdsControl(text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) if ((text[i] as number) < 0x20) return true
  return false
}

export function byteTable(holds: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (holds(byte) ? 1 : 0))
}
