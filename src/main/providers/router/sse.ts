/** Server-sent events, framed byte by byte beside the stream: it finds where an event ends and never holds one back. */

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
  let skipped: Uint8Array | null = null

  /** Passes over whole events of that name, from the beginning of one: by words, since most of a stream is nothing else. */
  function skipEvents(chunk: Uint8Array, head: Uint8Array, from: number): number {
    const [words, wanted] = [wordsOf(chunk), wordsOf(head)]
    const last = head.length - 4
    for (let at = from; ;) {
      if (at + head.length > chunk.length) return at
      for (let i = 0; i < last; i += 4) if (words.getUint32(at + i) !== wanted.getUint32(i)) return at
      if (words.getUint32(at + last) !== wanted.getUint32(last)) return at
      const end = chunk.indexOf(LF, at + head.length)
      if (end === -1 || chunk[end + 1] !== LF) return at
      at = end + 2
    }
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
      let at = 0
      let lf = chunk.indexOf(LF)
      let cr = chunk.indexOf(CR)
      while (at < chunk.length) {
        if (skipLf) {
          skipLf = false
          if (chunk[at] === LF) {
            at++
            continue
          }
        }
        if (skipped !== null && cr === -1 && lineBytes === 0 && !hasField) {
          at = skipEvents(chunk, skipped, at)
          if (at === chunk.length) return undefined
        }
        if (lf !== -1 && lf < at) lf = chunk.indexOf(LF, at)
        if (cr !== -1 && cr < at) cr = chunk.indexOf(CR, at)
        const end = lf === -1 ? cr : cr === -1 ? lf : Math.min(lf, cr)
        if (end === -1) return linePiece(chunk.subarray(at))
        const isNamed = lineBytes === 0 && beginsWith(chunk, EVENT, at)
        if (isNamed) nameLine(chunk, at, end)
        else if (lineBytes === 0 && beginsWith(chunk, DATA, at)) dataLine(chunk, at, end)
        else {
          linePiece(chunk.subarray(at, end))
          lineEnds()
        }
        if (isNamed && chunk[end] === LF && name !== null && listener.skips?.(name) === true) {
          skipped = Uint8Array.from(chunk.subarray(at, end + 1))
        }
        skipLf = chunk[end] === CR
        at = end + 1
      }
      return undefined
    },
    atBoundary: () => lineBytes === 0 && !hasField,
  }
}

function valueAt(chunk: Uint8Array, colonEnd: number): number {
  return chunk[colonEnd] === SPACE ? colonEnd + 1 : colonEnd
}

function wordsOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length)
}

function beginsWith(chunk: Uint8Array, head: Uint8Array, at: number): boolean {
  if (at + head.length > chunk.length) return false
  for (let i = 0; i < head.length; i++) if (chunk[at + i] !== head[i]) return false
  return true
}
