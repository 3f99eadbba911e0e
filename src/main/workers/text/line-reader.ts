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

  function deliver(last: Uint8Array): void {
    const whole = held === 0 ? last : Buffer.concat([...parts, last], held + last.length)
    parts = []
    held = 0
    const end = whole.at(-1) === CR ? whole.length - 1 : whole.length
    if (!isBlank(whole, end)) onLine(whole.subarray(0, end))
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
        deliver(chunk.subarray(from, at))
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
      if (!over && held > 0) deliver(new Uint8Array(0))
    },
  }
}

function isBlank(line: Uint8Array, end: number): boolean {
  for (let index = 0; index < end; index++) {
    const byte = line[index]
    if (byte !== 32 && byte !== 9 && byte !== CR) return false
  }
  return true
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The JSON value of a line; undefined when it is not UTF-8 or not JSON (which has no undefined). */
export function parseJsonLine(line: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(line)) as unknown
  } catch {
    return undefined
  }
}
