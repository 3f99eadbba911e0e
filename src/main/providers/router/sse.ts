/** Server-sent events, framed byte by byte beside the stream: it finds where an event ends and never holds one back. */
import { BLOCK_BYTES, HEAD_BYTES, isLaid, lay, layHead, lineEnd, skipEvents } from './simd/index.ts'

export interface SseListener {
  /** Bytes of the event's data lines, in order. `name`: its `event:` line, if that came first. */
  data(piece: Uint8Array, name: string | null): void
  /** A blank line ended the event. */
  dispatched(name: string | null): void
  /** Events of this name: their data is not told, and of those that are nothing but one line of it, nor is their end. */
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
  /** The event at hand has a name to skip. */
  let isSkipped = false
  let dataLines = 0
  let hasField = false
  /** The newest line that named an event to skip: the next ones mostly begin with the same. */
  let skipped = NOTHING
  let skippedName = ''
  /** What is laid out to be read. */
  let laid = 0

  /** Answers whether events that begin with this line can be passed over at once. */
  function learn(line: Uint8Array): boolean {
    if (line.length < HEAD_BYTES.least || line.length > HEAD_BYTES.most) return false
    if (line.length !== skipped.length || !beginsWith(line, skipped, 0)) skipped = new Uint8Array(line)
    skippedName = name ?? ''
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
      if (begins && skipped.length > 0) {
        at = skipEvents(at, skipped.length)
        // The last of a block mostly goes on in the next one.
        if (beginsWith(block, skipped, at)) {
          name = skippedName
          isSkipped = true
          hasField = true
          at += skipped.length
          continue
        }
      }
      const end = lineEnd(at)
      if (end === block.length) return linePiece(block, at, end)
      // The rest of a block's last event.
      if (isSkipped && field === 'data' && dataLines === 1 && block[end] === LF && block[end + 1] === LF) {
        at = end + 2
        nextLine()
        eventEnds()
        continue
      }
      const isNamed = lineBytes === 0 && beginsWith(block, EVENT, at)
      if (isNamed) nameLine(block, at, end)
      else if (lineBytes === 0 && beginsWith(block, DATA, at)) dataLine(block, at, end)
      else {
        linePiece(block, at, end)
        lineEnds()
      }
      skipLf = block[end] === CR
      const isHead = begins && isNamed && isSkipped && !skipLf
      const next = isHead && learn(block.subarray(at, end + 1)) ? skipEvents(at, skipped.length) : at
      if (next === at) at = end + 1
      else {
        at = next
        eventEnds()
      }
    }
    return undefined
  }

  /** `[from, to)` of the block is told as a piece of its own only where somebody wants it. */
  function valuePiece(block: Buffer, from: number, to: number): void {
    let at = from
    if (!valueBegun && at < to) {
      valueBegun = true
      if (block[at] === SPACE) at++
    }
    if (at === to) return
    if (field === 'data') tell(block, at, to)
    else if (field === 'event' && value.length < MAX_KEPT)
      value += block.toString('latin1', at, Math.min(to, at + MAX_KEPT))
  }

  function linePiece(block: Buffer, from: number, to: number): void {
    if (from === to) return
    lineBytes += to - from
    if (field !== 'unknown') return valuePiece(block, from, to)
    if (lineBytes === to - from && beginsWith(block, DATA, from)) {
      field = 'data'
      dataBegins()
      return valuePiece(block, from + DATA.length, to)
    }
    let colon = from
    while (colon < to && block[colon] !== COLON) colon++
    if (head.length < MAX_KEPT) head += block.toString('latin1', from, Math.min(colon, from + MAX_KEPT))
    if (colon === to) return undefined
    field = head === '' ? 'comment' : head === 'event' || head === 'data' ? head : 'other'
    if (field === 'data') dataBegins()
    return valuePiece(block, colon + 1, to)
  }

  /** The two lines that make up a stream, where a block holds them whole: what `linePiece` and `lineEnds` do, in one go. */
  function nameLine(block: Buffer, at: number, end: number): void {
    setName(block.toString('latin1', valueAt(block, at + EVENT.length), end))
    hasField = true
  }

  function dataLine(block: Buffer, at: number, end: number): void {
    dataBegins()
    const from = valueAt(block, at + DATA.length)
    if (from < end) tell(block, from, end)
    hasField = true
  }

  function setName(said: string): void {
    name = said
    isSkipped = listener.skips?.(said) === true
  }

  function dataBegins(): void {
    if (dataLines++ > 0 && !isSkipped) listener.data(NEWLINE, name)
  }

  function tell(block: Buffer, from: number, to: number): void {
    if (!isSkipped) listener.data(block.subarray(from, to), name)
  }

  function lineEnds(): void {
    if (lineBytes === 0) {
      if (hasField) listener.dispatched(name)
      eventEnds()
    } else if (field !== 'comment') hasField = true
    if (field === 'event') setName(value)
    nextLine()
  }

  function nextLine(): void {
    field = 'unknown'
    head = ''
    value = ''
    valueBegun = false
    lineBytes = 0
  }

  function eventEnds(): void {
    name = null
    isSkipped = false
    dataLines = 0
    hasField = false
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
