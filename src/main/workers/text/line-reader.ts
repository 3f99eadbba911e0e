import { isUtf8 } from 'node:buffer'

/**
 * Splits an agent's stdout at line feeds, before any parser sees it, in time linear in the bytes: a chunk is searched
 * once, and a long line is joined once. A trailing carriage return is dropped; blank lines are not delivered.
 */
export interface LineReader {
  /** False: the line grew past the bound; nothing more is taken. */
  push(chunk: Uint8Array): boolean
  /** A last line without a line feed counts. */
  end(): void
}

const LF = 10
const CR = 13

export function createLineReader(maxBytes: number, onLine: (line: Uint8Array) => void): LineReader {
  let parts: Uint8Array[] = []
  let held = 0
  let over = false

  function deliver(chunk: Uint8Array, from: number, to: number): void {
    const end = to > from && chunk[to - 1] === CR ? to - 1 : to
    if (!isBlank(chunk, from, end)) onLine(chunk.subarray(from, end))
  }

  /** A line that began in an earlier chunk. */
  function deliverJoined(last: Uint8Array): void {
    const whole = Buffer.concat([...parts, last], held + last.length)
    parts = []
    held = 0
    deliver(whole, 0, whole.length)
  }

  function tooLong(): false {
    over = true
    parts = []
    held = 0
    return false
  }

  return {
    push(chunk) {
      if (over) return false
      let from = 0
      for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
        if (held + at - from > maxBytes) return tooLong()
        if (held === 0) deliver(chunk, from, at)
        else deliverJoined(chunk.subarray(from, at))
        from = at + 1
      }
      const rest = chunk.length - from
      if (held + rest > maxBytes) return tooLong()
      if (rest > 0) {
        parts.push(chunk.subarray(from))
        held += rest
      }
      return true
    },
    end() {
      if (!over && held > 0) deliverJoined(new Uint8Array(0))
    },
  }
}

function isBlank(chunk: Uint8Array, from: number, end: number): boolean {
  for (let index = from; index < end; index++) {
    const byte = chunk[index]
    if (byte !== 32 && byte !== 9 && byte !== CR) return false
  }
  return true
}

/** The JSON value of a line; undefined when it is not UTF-8 or not JSON (which has no undefined). */
export function parseJsonLine(line: Uint8Array): unknown {
  if (!isUtf8(line)) return undefined
  const bytes = Buffer.isBuffer(line) ? line : Buffer.from(line.buffer, line.byteOffset, line.length)
  try {
    return JSON.parse(bytes.toString()) as unknown
  } catch {
    return undefined
  }
}
