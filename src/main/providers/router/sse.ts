/** Server-sent events, framed byte by byte beside the stream: it finds where an event ends and never holds one back. */
import { BLOCK_BYTES, HEAD_BYTES, isLaid, lay, layHead, lineEnd, skipEvents } from './simd/index.ts'

export interface SseListener {
  /** Bytes of the event's data lines, in order. `name`: its `event:` line, if that came first. */
  data(piece: Uint8Array, name: string | null): void
  /** A blank line ended the event. */
  dispatched(name: string | null): void
  /** Events of this name need not be told at all. */
  skips?(name: string): boolean
}

export interface SseFraming {
  push(chunk: Uint8Array): void
  /** Nothing of a next event has been sent: one of ours may follow. */
  atBoundary(): boolean
}

const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
const SPACE = 0x20
/** Longer than any field name or event name that matters. */
const MAX_KEPT = 128
const NEWLINE = new Uint8Array([LF])
const NOTHING = new Uint8Array(0)
const EVENT = Buffer.from('event:')
const DATA = Buffer.from('data:')

export function createSseFraming(listener: SseListener): SseFraming {
  let field: 'unknown' | 'event' | 'data' | 'comment' | 'other' = 'unknown'
  let head = ''
  let value = ''
  let valueBegun = false
  let lineBytes = 0
  let skipLf = false
  let name: string | null = null
  let dataLines = 0
  let hasField = false
  /** The newest line that named an event to skip: the next ones mostly begin with the same. */
  let skipped = NOTHING
  /** What is laid out to be read. */
  let laid = 0

  /** Answers whether events that begin with this line can be passed over at once. */
  function learn(line: Uint8Array): boolean {
    if (line.length < HEAD_BYTES.least || line.length > HEAD_BYTES.most) return false
    if (line.length !== skipped.length || !beginsWith(line, skipped, 0)) skipped = new Uint8Array(line)
    layHead(skipped)
    return true
  }

  function layOut(block: Uint8Array): void {
    laid = lay(block)
    layHead(skipped)
  }

  function readBlock(block: Buffer): void {
    layOut(block)
    let at = 0
    while (at < block.length) {
      if (skipLf) {
        skipLf = false
        if (block[at] === LF) {
          at++
          continue
        }
      }
      // A listener may have laid out something of its own.
      if (!isLaid(laid)) layOut(block)
      const begins = lineBytes === 0 && !hasField
      if (begins && skipped.length > 0) at = skipEvents(at, skipped.length)
      const end = lineEnd(at)
      if (end === block.length) return linePiece(block.subarray(at))
      const isNamed = lineBytes === 0 && beginsWith(block, EVENT, at)
      if (isNamed) nameLine(block, at, end)
      else if (lineBytes === 0 && beginsWith(block, DATA, at)) dataLine(block, at, end)
      else {
        linePiece(block.subarray(at, end))
        lineEnds()
      }
      skipLf = block[end] === CR
      const isSkipped = begins && isNamed && !skipLf && name !== null && listener.skips?.(name) === true
      const next = isSkipped && learn(block.subarray(at, end + 1)) ? skipEvents(at, skipped.length) : at
      if (next === at) at = end + 1
      else {
        at = next
        name = null
        hasField = false
      }
    }
    return undefined
  }

  function valuePiece(piece: Uint8Array): void {
    let rest = piece
    if (!valueBegun && rest.length > 0) {
      valueBegun = true
      if (rest[0] === SPACE) rest = rest.subarray(1)
    }
    if (rest.length === 0) return
    if (field === 'data') listener.data(rest, name)
    else if (field === 'event' && value.length < MAX_KEPT) value += Buffer.from(rest).toString('latin1')
  }

  function linePiece(piece: Uint8Array): void {
    if (piece.length === 0) return
    lineBytes += piece.length
    if (field !== 'unknown') return valuePiece(piece)
    const colon = piece.indexOf(COLON)
    const named = colon === -1 ? piece : piece.subarray(0, colon)
    if (head.length < MAX_KEPT) head += Buffer.from(named.subarray(0, MAX_KEPT)).toString('latin1')
    if (colon === -1) return undefined
    field = head === '' ? 'comment' : head === 'event' || head === 'data' ? head : 'other'
    if (field === 'data' && dataLines++ > 0) listener.data(NEWLINE, name)
    return valuePiece(piece.subarray(colon + 1))
  }

  /** The two lines that make up a stream, where a chunk holds them whole: what `linePiece` and `lineEnds` do, in one go. */
  function nameLine(chunk: Buffer, at: number, end: number): void {
    name = chunk.toString('latin1', valueAt(chunk, at + EVENT.length), end)
    hasField = true
  }

  function dataLine(chunk: Buffer, at: number, end: number): void {
    if (dataLines++ > 0) listener.data(NEWLINE, name)
    const from = valueAt(chunk, at + DATA.length)
    if (from < end) listener.data(chunk.subarray(from, end), name)
    hasField = true
  }

  function lineEnds(): void {
    if (lineBytes === 0) {
      if (hasField) listener.dispatched(name)
      name = null
      dataLines = 0
      hasField = false
    } else if (field !== 'comment') hasField = true
    if (field === 'event') name = value
    field = 'unknown'
    head = ''
    value = ''
    valueBegun = false
    lineBytes = 0
  }

  return {
    push(bytes) {
      const chunk = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
      if (chunk.length <= BLOCK_BYTES) return readBlock(chunk)
      for (let at = 0; at < chunk.length; at += BLOCK_BYTES) readBlock(chunk.subarray(at, at + BLOCK_BYTES))
      return undefined
    },
    atBoundary: () => lineBytes === 0 && !hasField,
  }
}

function valueAt(chunk: Uint8Array, colonEnd: number): number {
  return chunk[colonEnd] === SPACE ? colonEnd + 1 : colonEnd
}

function beginsWith(chunk: Uint8Array, head: Uint8Array, at: number): boolean {
  if (at + head.length > chunk.length) return false
  for (let i = 0; i < head.length; i++) if (chunk[at + i] !== head[i]) return false
  return true
}
