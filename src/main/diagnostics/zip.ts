/** A ZIP archive in memory, as PKWARE's APPNOTE 6.3.10 has it: deflated entries, UTF-8 names, no encryption, no ZIP64. */
import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  /** With `/` between folders. */
  name: string
  content: Uint8Array
}

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
/** 2.0: deflate. */
const VERSION = 20
/** Names are UTF-8. */
const FLAGS = 0x0800
const DEFLATED = 8
const FIRST_YEAR = 1980

/** `atMs`: the time of every entry, wall clock, to two seconds. Less than 4 GiB and 65 536 entries. */
export function zip(entries: readonly ZipEntry[], atMs: number): Buffer {
  const { date, time } = dosTime(atMs)
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let offset = 0
  for (const { name, content } of entries) {
    const nameBytes = Buffer.from(name, 'utf8')
    const packed = deflateRawSync(content)
    // What both headers say of the entry, from the flags to the length of its name.
    const facts = Buffer.alloc(22)
    facts.writeUInt16LE(FLAGS, 0)
    facts.writeUInt16LE(DEFLATED, 2)
    facts.writeUInt16LE(time, 4)
    facts.writeUInt16LE(date, 6)
    facts.writeUInt32LE(crc32(content), 8)
    facts.writeUInt32LE(packed.length, 12)
    facts.writeUInt32LE(content.length, 16)
    facts.writeUInt16LE(nameBytes.length, 20)
    const local = Buffer.concat([words(LOCAL, VERSION), facts, Buffer.alloc(2), nameBytes, packed])
    // Extra, comment, disk and attributes are empty; then where the entry begins.
    const tail = Buffer.alloc(16)
    tail.writeUInt32LE(offset, 12)
    const madeBy = Buffer.alloc(2)
    madeBy.writeUInt16LE(VERSION, 0)
    const signature = Buffer.alloc(4)
    signature.writeUInt32LE(CENTRAL, 0)
    centrals.push(Buffer.concat([signature, madeBy, madeBy, facts, tail, nameBytes]))
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(centrals)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(END, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}

function words(signature: number, version: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUInt32LE(signature, 0)
  bytes.writeUInt16LE(version, 4)
  return bytes
}

function dosTime(atMs: number): { date: number; time: number } {
  const at = new Date(atMs)
  const year = Math.max(0, at.getUTCFullYear() - FIRST_YEAR)
  return {
    date: (year << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
    time: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
  }
}
