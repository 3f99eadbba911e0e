/** Git's index, as far as it says which of its paths are repositories of their own. */
import { isUtf8 } from 'node:buffer'

const HEAD_BYTES = 12
/** Times, place, mode, owner and size. */
const STAT_BYTES = 40
const MODE_AT = 24
const ID_BYTES = 20
const GITLINK = 0xe000
const EXTENDED = 0x4000
const NUL = 0

/** Paths of mode 160000, against the folder that the index is of. Null: it is of no form that is known here. */
export function gitlinksOf(index: Buffer): string[] | null {
  try {
    return entriesOf(index)
  } catch {
    // Reading past its end: it was cut, or is no index.
    return null
  }
}

function entriesOf(index: Buffer): string[] | null {
  const version = index.readUInt32BE(4)
  if (index.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return null
  const links: string[] = []
  let at = HEAD_BYTES
  let path: Buffer = Buffer.alloc(0)
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const start = at
    const isLink = index.readUInt32BE(start + MODE_AT) >>> 0 === GITLINK
    const flags = index.readUInt16BE(start + STAT_BYTES + ID_BYTES)
    at = start + STAT_BYTES + ID_BYTES + ((flags & EXTENDED) === 0 ? 2 : 4)
    if (version === 4) {
      const [dropped, from] = varint(index, at)
      const end = index.indexOf(NUL, from)
      if (end === -1 || dropped > path.length) return null
      path = Buffer.concat([path.subarray(0, path.length - dropped), index.subarray(from, end)])
      at = end + 1
    } else {
      const end = index.indexOf(NUL, at)
      if (end === -1) return null
      if (isLink) path = index.subarray(at, end)
      at = start + Math.ceil((end - start + 1) / 8) * 8
    }
    if (isLink && !isUtf8(path)) return null
    if (isLink) links.push(path.toString('utf8'))
  }
  return holdsLinkedIndex(index, at) ? null : links
}

/** The extension `link`: most entries are in another file. */
function holdsLinkedIndex(index: Buffer, from: number): boolean {
  for (let at = from; at + 8 + ID_BYTES <= index.length; at += 8 + index.readUInt32BE(at + 4))
    if (index.toString('latin1', at, at + 4) === 'link') return true
  return false
}

/** A number as Git packs it in the index's fourth form, and where it ends. */
function varint(bytes: Buffer, from: number): readonly [value: number, end: number] {
  let at = from
  let byte = bytes.readUInt8(at)
  let value = byte & 0x7f
  while ((byte & 0x80) !== 0) {
    at += 1
    byte = bytes.readUInt8(at)
    value = (value + 1) * 128 + (byte & 0x7f)
  }
  return [value, at + 1]
}
