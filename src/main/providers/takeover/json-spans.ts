/** Where the members of a JSON file's objects stand, as offsets into its text. */
import { createJsonScanner } from '../router/json-scanner.ts'
import { BOM } from './text.ts'

/** `start` of a member is its key's; offsets are `[start, end)`. */
export interface JsonMember {
  readonly name: string
  readonly start: number
  readonly valueStart: number
  readonly end: number
}

export interface JsonObjectSpan {
  /** Behind the opening brace, and at the closing one. */
  readonly bodyStart: number
  readonly bodyEnd: number
  readonly members: readonly JsonMember[]
}

/**
 * The root object and the object under one of its members; null where that is no object.
 * @throws AppError `request_body_malformed`: no JSON.
 */
export function findJsonSpans(
  text: string,
  under: string,
): { root: JsonObjectSpan | null; inner: JsonObjectSpan | null } {
  const skipped = text.startsWith(BOM) ? 1 : 0
  const bytes = Buffer.from(text.slice(skipped), 'utf8')
  const toOffset = offsetsOf(bytes, skipped)
  const found: { depth: number; bodyStart: number; bodyEnd: number; members: JsonMember[] }[] = []
  const open: { span: (typeof found)[number] | null; key: string; keyAt: number; valueAt: number }[] = []
  // Tokens deeper than this are told to nobody.
  const DEPTH = 2

  function valueEnds(depth: number, end: number): void {
    const around = open[depth - 1]
    around?.span?.members.push({
      name: around.key,
      start: toOffset(around.keyAt),
      valueStart: toOffset(around.valueAt),
      end: toOffset(end),
    })
  }

  const scanner = createJsonScanner(
    {
      wantsText: (role, depth) => role === 'key' && depth <= DEPTH,
      key(name, depth, start) {
        const around = open[depth - 1]
        if (around === undefined) return
        around.key = name ?? ''
        around.keyAt = start
      },
      open(kind, depth, start) {
        const around = open[depth - 1]
        if (around !== undefined) around.valueAt = start
        const isWanted = depth === 0 || (depth === 1 && around?.span?.depth === 0 && around.key === under)
        const span =
          kind === 'object' && isWanted ? { depth, bodyStart: toOffset(start + 1), bodyEnd: 0, members: [] } : null
        if (span !== null) found.push(span)
        open.push({ span, key: '', keyAt: 0, valueAt: 0 })
        return true
      },
      close(_kind, depth, end) {
        const closed = open.pop()
        if (closed?.span !== null && closed?.span !== undefined) closed.span.bodyEnd = toOffset(end - 1)
        valueEnds(depth, end)
      },
      scalar(_kind, _text, depth, start, end) {
        const around = open[depth - 1]
        if (around !== undefined) around.valueAt = start
        valueEnds(depth, end)
      },
    },
    DEPTH,
  )
  scanner.write(bytes)
  scanner.end()
  return {
    root: found.find(({ depth }) => depth === 0) ?? null,
    inner: found.findLast(({ depth }) => depth === 1) ?? null,
  }
}

/** From a byte offset to the text's own. ASCII needs no table. */
function offsetsOf(bytes: Buffer, skipped: number): (byte: number) => number {
  if (bytes.every((byte) => byte < 0x80)) return (byte) => byte + skipped
  const table = new Uint32Array(bytes.length + 1)
  let units = 0
  for (const [index, byte] of bytes.entries()) {
    table[index] = units
    // The first byte of a character counts it; one of four bytes takes two units.
    if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1
  }
  table[bytes.length] = units
  return (byte) => (table[byte] ?? units) + skipped
}
