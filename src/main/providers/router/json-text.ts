/** What the scanner knows of text: which bytes are characters. */
import { isUtf8 } from 'node:buffer'

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
