/**
 * An incremental JSON scanner: bytes go in as they arrive, tokens with absolute byte offsets come out. It checks the whole
 * grammar and UTF-8 but builds no values, so that a body is edited by splicing spans and every other byte survives.
 */
import { AppError } from '../../../shared/errors.ts'
import { Digits, isComplete, isDigit, isHex, nextDigits } from './json-numbers.ts'
import { borderOf, byteTable, sizeOf, validEnd } from './json-text.ts'
import { BLOCK_BYTES, lay, layLookout, lookOut, skim, stringEnd } from './simd/index.ts'
import type { JsonPlace } from './simd/index.ts'

export type JsonContainer = 'object' | 'array'
export type JsonScalar = 'string' | 'number' | 'literal'

/** `depth` counts the containers around a token: members of the top-level object have depth 1. Offsets are `[start, end)`. */
export interface JsonVisitor {
  /** Asked at each string and number: is its text wanted? Others are passed over without a copy. */
  wantsText(role: 'key' | 'value', depth: number): boolean
  key(text: string | null, depth: number, start: number): void
  /** Answers whether what is inside is to be told. */
  open(kind: JsonContainer, depth: number, start: number): boolean
  close(kind: JsonContainer, depth: number, end: number): void
  scalar(kind: JsonScalar, text: string | null, depth: number, start: number, end: number): void
}

export interface JsonScanner {
  /**
   * The chunk is the caller's again afterwards.
   * @throws AppError `request_body_malformed`: no JSON, no UTF-8, or nested too deep.
   */
  write(chunk: Uint8Array): void
  /** @throws AppError `request_body_malformed`: the text stops before its value does. */
  end(): void
  /** Whether a string began with what was looked out for, or may have: an escape hides what stands there. */
  met(): boolean
}

export const MAX_JSON_DEPTH = 128

/** The first seven are known to simd/scan.as.ts. */
const State = {
  value: 0,
  valueOrEnd: 1,
  keyOrEnd: 2,
  key: 3,
  colon: 4,
  after: 5,
  string: 6,
  escape: 7,
  hex: 8,
  number: 9,
  literal: 10,
} as const

const LITERALS: ReadonlyMap<number, string> = new Map([
  [0x74, 'true'],
  [0x66, 'false'],
  [0x6e, 'null'],
])
const ESCAPED = byteTable((byte) => '"\\/bfnrt'.includes(String.fromCharCode(byte)))
const NOTHING = Buffer.alloc(0)
const UNLIKE = -1

/**
 * `visitDepth`: tokens deeper than this are checked but told to nobody, which is most of a body. `lookout`: letters that a
 * string may begin with, at any depth.
 */
export function createJsonScanner(
  visitor: JsonVisitor,
  visitDepth = MAX_JSON_DEPTH,
  lookout: Uint8Array = NOTHING,
): JsonScanner {
  let offset = 0
  const place: JsonPlace = {
    state: State.value,
    depth: 0,
    stack: new Uint8Array(MAX_JSON_DEPTH),
    isKey: false,
    escaped: false,
    met: false,
    matched: UNLIKE,
  }
  /** `visitDepth`, or that of a container around this place whose inside nobody wants. */
  let told = visitDepth
  let tokenStart = 0
  let capturing = false
  let captured: Uint8Array[] = []
  let hexLeft = 0
  let digits: number = Digits.minus
  let numberText = ''
  let literal = ''
  let literalAt = 0
  /** The beginning of a character that the next chunk goes on with. */
  let partial: Buffer = NOTHING

  function malformed(what: string, at: number): AppError {
    return new AppError('request_body_malformed', `The request body is no valid JSON: ${what}.`, {
      detail: `byte ${at}`,
    })
  }

  function isInObject(): boolean {
    return place.stack[place.depth - 1] === 1
  }

  function openContainer(isObject: boolean, at: number): void {
    if (place.depth >= MAX_JSON_DEPTH) throw malformed(`nested deeper than ${MAX_JSON_DEPTH}`, at)
    if (place.depth <= told && !visitor.open(isObject ? 'object' : 'array', place.depth, at)) told = place.depth
    place.stack[place.depth++] = isObject ? 1 : 0
    place.state = isObject ? State.keyOrEnd : State.valueOrEnd
  }

  function closeContainer(isObject: boolean, at: number): void {
    if (place.depth === 0 || isInObject() !== isObject) throw malformed('a bracket closes nothing', at)
    place.depth--
    place.state = State.after
    if (place.depth > told) return
    told = visitDepth
    visitor.close(isObject ? 'object' : 'array', place.depth, at + 1)
  }

  function openString(isKey: boolean, at: number): void {
    place.state = State.string
    tokenStart = at
    place.isKey = isKey
    place.escaped = false
    place.matched = lookout.length > 0 ? 0 : UNLIKE
    capturing = place.depth <= told && visitor.wantsText(isKey ? 'key' : 'value', place.depth)
  }

  function closeString(chunk: Buffer, from: number, quote: number): void {
    const end = offset + quote + 1
    place.state = place.isKey ? State.colon : State.after
    if (place.depth > told) return
    const text = capturing ? takeCaptured(chunk, from, quote) : null
    if (place.isKey) visitor.key(text, place.depth, tokenStart)
    else visitor.scalar('string', text, place.depth, tokenStart, end)
  }

  /** The text between the quotes, of which `[from, to)` of this chunk is the last part. */
  function takeCaptured(chunk: Buffer, from: number, to: number): string {
    const text =
      captured.length === 0
        ? chunk.toString('utf8', from, to)
        : Buffer.concat([...captured, chunk.subarray(from, to)]).toString('utf8')
    if (captured.length > 0) captured = []
    capturing = false
    return place.escaped ? String(JSON.parse(`"${text}"`)) : text
  }

  function startValue(byte: number, at: number): void {
    if (byte === 0x22) openString(false, at)
    else if (byte === 0x7b) openContainer(true, at)
    else if (byte === 0x5b) openContainer(false, at)
    else if (byte === 0x2d || isDigit(byte)) {
      place.state = State.number
      tokenStart = at
      digits = byte === 0x2d ? Digits.minus : byte === 0x30 ? Digits.zero : Digits.int
      capturing = place.depth <= told && visitor.wantsText('value', place.depth)
      numberText = String.fromCharCode(byte)
    } else {
      const word = LITERALS.get(byte)
      if (word === undefined) throw malformed('a value is missing', at)
      place.state = State.literal
      tokenStart = at
      literal = word
      literalAt = 1
    }
  }

  function structural(byte: number, at: number): void {
    switch (place.state) {
      case State.valueOrEnd:
        if (byte === 0x5d) return closeContainer(false, at)
        return startValue(byte, at)
      case State.value:
        return startValue(byte, at)
      case State.keyOrEnd:
        if (byte === 0x7d) return closeContainer(true, at)
        if (byte === 0x22) return openString(true, at)
        throw malformed('a key is missing', at)
      case State.key:
        if (byte === 0x22) return openString(true, at)
        throw malformed('a key is missing', at)
      case State.colon:
        if (byte !== 0x3a) throw malformed('a colon is missing', at)
        place.state = State.value
        return undefined
      default:
        if (byte === 0x2c && place.depth > 0) {
          place.state = isInObject() ? State.key : State.value
          return undefined
        }
        if (byte === 0x7d) return closeContainer(true, at)
        if (byte === 0x5d) return closeContainer(false, at)
        throw malformed('something follows a value', at)
    }
  }

  /** Answers the index of the closing quote; the block's length where the string goes on behind it. */
  function scanString(block: Buffer, from: number): number {
    let i = from
    while (i < block.length) {
      i = stringEnd(place, i)
      if (i === block.length || block[i] === 0x22) return i
      if (block[i] !== 0x5c) throw malformed('a control character in a string', offset + i)
      place.escaped = true
      place.state = State.escape
      i = scanEscape(block, i + 1)
    }
    return i
  }

  /** Inside a string: an escape, as far as this chunk has it. */
  function scanEscape(chunk: Uint8Array, from: number): number {
    let i = from
    while (i < chunk.length && place.state !== State.string) {
      const byte = chunk[i] as number
      if (place.state === State.hex) {
        if (!isHex(byte)) throw malformed('an unknown escape', offset + i)
        if (--hexLeft === 0) place.state = State.string
      } else if (byte === 0x75) {
        place.state = State.hex
        hexLeft = 4
      } else if (ESCAPED[byte] === 1) place.state = State.string
      else throw malformed('an unknown escape', offset + i)
      i++
    }
    return i
  }

  /** Answers false when the number ended before this byte. */
  function stepNumber(byte: number, at: number): boolean {
    const next = nextDigits(digits, byte)
    if (next !== null) {
      digits = next
      if (capturing) numberText += String.fromCharCode(byte)
      return true
    }
    if (!isComplete(digits)) throw malformed('a number is cut', at)
    place.state = State.after
    if (place.depth <= told) {
      visitor.scalar('number', capturing ? numberText : null, place.depth, tokenStart, at)
    }
    capturing = false
    return false
  }

  function stepLiteral(byte: number, at: number): void {
    if (byte !== literal.charCodeAt(literalAt)) throw malformed('an unknown word', at)
    if (++literalAt < literal.length) return
    place.state = State.after
    if (place.depth <= told) visitor.scalar('literal', null, place.depth, tokenStart, at + 1)
  }

  /** Reads whole characters only, so that a byte beyond ASCII is part of one wherever it stands. */
  function write(bytes: Uint8Array): void {
    let chunk = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    if (partial.length > 0) {
      const missing = sizeOf(partial[0] as number) - partial.length
      const character = Buffer.concat([partial, chunk.subarray(0, missing)])
      if (chunk.length < missing) return void (partial = character)
      partial = NOTHING
      readText(character)
      chunk = chunk.subarray(missing)
    }
    const border = borderOf(chunk)
    if (border < chunk.length) partial = Buffer.from(chunk.subarray(border))
    readText(border < chunk.length ? chunk.subarray(0, border) : chunk)
  }

  function readText(text: Buffer): void {
    const valid = validEnd(text)
    read(valid < text.length ? text.subarray(0, valid) : text)
    if (valid < text.length) throw malformed('it is no UTF-8', offset)
  }

  function read(text: Buffer): void {
    if (text.length <= BLOCK_BYTES) return readBlock(text)
    for (let at = 0; at < text.length; at += BLOCK_BYTES) readBlock(text.subarray(at, at + BLOCK_BYTES))
  }

  function readBlock(block: Buffer): void {
    lay(block)
    layLookout(lookout)
    let i = 0
    while (i < block.length) {
      if (place.state <= State.after && place.depth > told) {
        i = skim(place, i, told, lookout.length)
        if (i === block.length) break
      }
      if (place.state >= State.string && place.state <= State.hex) {
        const from = i
        if (place.matched !== UNLIKE) lookOut(place, i, lookout.length)
        if (place.state !== State.string) i = scanEscape(block, i)
        if (place.state === State.string) i = scanString(block, i)
        if (i < block.length) {
          closeString(block, from, i)
          i++
        } else if (capturing) captured.push(Buffer.from(block.subarray(from, i)))
        continue
      }
      const byte = block[i] as number
      if (place.state === State.number) {
        if (!stepNumber(byte, offset + i)) continue
      } else if (place.state === State.literal) stepLiteral(byte, offset + i)
      else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) structural(byte, offset + i)
      i++
    }
    offset += block.length
  }

  function end(): void {
    if (partial.length > 0) throw malformed('it is no UTF-8', offset)
    if (place.state === State.number && place.depth === 0) stepNumber(0x20, offset)
    if (place.state !== State.after || place.depth > 0) throw malformed('it ends too early', offset)
  }

  return { write, end, met: () => place.met }
}
