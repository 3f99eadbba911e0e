/**
 * An incremental JSON scanner: bytes go in as they arrive, tokens with absolute byte offsets come out. It checks the whole
 * grammar and UTF-8 but builds no values, so that a body is edited by splicing spans and every other byte survives.
 */
import { AppError } from '../../../shared/errors.ts'
import { Digits, isComplete, isDigit, isHex, nextDigits } from './json-numbers.ts'
import { borderOf, byteTable, plainEnd, sizeOf, validEnd, wordsOf } from './json-text.ts'
import type { Words } from './json-text.ts'

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
  /** @throws AppError `request_body_malformed`: no JSON, no UTF-8, or nested too deep. */
  write(chunk: Uint8Array): void
  /** @throws AppError `request_body_malformed`: the text stops before its value does. */
  end(): void
  /** Whether a string began with what was looked out for, or may have: an escape hides what stands there. */
  met(): boolean
}

export const MAX_JSON_DEPTH = 128

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
  let state: number = State.value
  /** Innermost last; true is an object. */
  const stack: boolean[] = []
  /** `visitDepth`, or that of a container around this place whose inside nobody wants. */
  let told = visitDepth
  let tokenStart = 0
  let stringIsKey = false
  let capturing = false
  let escaped = false
  let captured: Uint8Array[] = []
  let hexLeft = 0
  let digits: number = Digits.minus
  let numberText = ''
  let literal = ''
  let literalAt = 0
  const looksOut = lookout.length > 0
  let met = false
  /** How many of those letters the string at hand begins with. */
  let matched = UNLIKE
  /** The beginning of a character that the next chunk goes on with. */
  let partial: Buffer = NOTHING

  function malformed(what: string, at: number): AppError {
    return new AppError('request_body_malformed', `The request body is no valid JSON: ${what}.`, {
      detail: `byte ${at}`,
    })
  }

  function openContainer(isObject: boolean, at: number): void {
    if (stack.length >= MAX_JSON_DEPTH) throw malformed(`nested deeper than ${MAX_JSON_DEPTH}`, at)
    if (stack.length <= told && !visitor.open(isObject ? 'object' : 'array', stack.length, at)) told = stack.length
    stack.push(isObject)
    state = isObject ? State.keyOrEnd : State.valueOrEnd
  }

  function closeContainer(isObject: boolean, at: number): void {
    if (stack.pop() !== isObject) throw malformed('a bracket closes nothing', at)
    state = State.after
    if (stack.length > told) return
    told = visitDepth
    visitor.close(isObject ? 'object' : 'array', stack.length, at + 1)
  }

  function openString(isKey: boolean, at: number): void {
    state = State.string
    tokenStart = at
    stringIsKey = isKey
    escaped = false
    if (looksOut) matched = 0
    capturing = stack.length <= told && visitor.wantsText(isKey ? 'key' : 'value', stack.length)
  }

  /** Goes on to tell whether the string at hand begins with what is looked out for. */
  function lookOut(chunk: Uint8Array, from: number): void {
    let at = from
    while (at < chunk.length && matched < lookout.length && chunk[at] === lookout[matched]) {
      at++
      matched++
    }
    const isEscape = chunk[at] === 0x5c && (at + 1 === chunk.length || chunk[at + 1] === 0x75)
    if (matched === lookout.length || isEscape) met = true
    if (at < chunk.length) matched = UNLIKE
  }

  function closeString(chunk: Buffer, from: number, quote: number): void {
    const end = offset + quote + 1
    state = stringIsKey ? State.colon : State.after
    if (stack.length > told) return
    const text = capturing ? takeCaptured(chunk, from, quote) : null
    if (stringIsKey) visitor.key(text, stack.length, tokenStart)
    else visitor.scalar('string', text, stack.length, tokenStart, end)
  }

  /** The text between the quotes, of which `[from, to)` of this chunk is the last part. */
  function takeCaptured(chunk: Buffer, from: number, to: number): string {
    const text =
      captured.length === 0
        ? chunk.toString('utf8', from, to)
        : Buffer.concat([...captured, chunk.subarray(from, to)]).toString('utf8')
    if (captured.length > 0) captured = []
    capturing = false
    return escaped ? String(JSON.parse(`"${text}"`)) : text
  }

  function startValue(byte: number, at: number): void {
    if (byte === 0x22) openString(false, at)
    else if (byte === 0x7b) openContainer(true, at)
    else if (byte === 0x5b) openContainer(false, at)
    else if (byte === 0x2d || isDigit(byte)) {
      state = State.number
      tokenStart = at
      digits = byte === 0x2d ? Digits.minus : byte === 0x30 ? Digits.zero : Digits.int
      capturing = stack.length <= told && visitor.wantsText('value', stack.length)
      numberText = String.fromCharCode(byte)
    } else {
      const word = LITERALS.get(byte)
      if (word === undefined) throw malformed('a value is missing', at)
      state = State.literal
      tokenStart = at
      literal = word
      literalAt = 1
    }
  }

  function structural(byte: number, at: number): void {
    switch (state) {
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
        state = State.value
        return undefined
      default:
        if (byte === 0x2c && stack.length > 0) {
          state = stack.at(-1) === true ? State.key : State.value
          return undefined
        }
        if (byte === 0x7d) return closeContainer(true, at)
        if (byte === 0x5d) return closeContainer(false, at)
        throw malformed('something follows a value', at)
    }
  }

  /**
   * Inside of what nobody wants, which is most of a body: brackets, commas and strings, as far as they are in order.
   * Answers where something else stands, and leaves it to the rest to read or refuse it.
   */
  function skim(chunk: Buffer, words: Words, from: number): number {
    const { length } = chunk
    let now = state
    let i = from
    while (i < length) {
      const byte = chunk[i] as number
      if (byte === 0x22 && now !== State.after && now !== State.colon) {
        stringIsKey = now === State.key || now === State.keyOrEnd
        capturing = false
        if (looksOut) {
          matched = 0
          lookOut(chunk, i + 1)
        }
        state = State.string
        i = scanString(chunk, words, i + 1)
        if (i === length) return i
        now = stringIsKey ? State.colon : State.after
      } else if (byte === 0x3a && now === State.colon) now = State.value
      else if (byte === 0x2c && now === State.after) now = stack.at(-1) === true ? State.key : State.value
      else if ((byte === 0x7b || byte === 0x5b) && now <= State.valueOrEnd && stack.length < MAX_JSON_DEPTH) {
        stack.push(byte === 0x7b)
        now = byte === 0x7b ? State.keyOrEnd : State.valueOrEnd
      } else if ((byte === 0x7d || byte === 0x5d) && stack.length > told + 1) {
        const isObject = byte === 0x7d
        if (now !== State.after && now !== (isObject ? State.keyOrEnd : State.valueOrEnd)) break
        if (stack.at(-1) !== isObject) break
        stack.pop()
        now = State.after
      } else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break
      i++
    }
    state = now
    return i
  }

  /** Answers the index of the closing quote; the chunk's length where the string goes on behind it. */
  function scanString(chunk: Buffer, words: Words, from: number): number {
    const { length } = chunk
    let i = from
    while (i < length) {
      i = plainEnd(chunk, words, i)
      if (i === length) return i
      const byte = chunk[i] as number
      if (byte === 0x22) return i
      if (byte !== 0x5c) throw malformed('a control character in a string', offset + i)
      escaped = true
      if (i + 1 < length && ESCAPED[chunk[i + 1] as number] === 1) {
        i += 2
        continue
      }
      state = State.escape
      i = scanEscape(chunk, i + 1)
    }
    return i
  }

  /** Inside a string: an escape, as far as this chunk has it. */
  function scanEscape(chunk: Uint8Array, from: number): number {
    let i = from
    while (i < chunk.length && state !== State.string) {
      const byte = chunk[i] as number
      if (state === State.hex) {
        if (!isHex(byte)) throw malformed('an unknown escape', offset + i)
        if (--hexLeft === 0) state = State.string
      } else if (byte === 0x75) {
        state = State.hex
        hexLeft = 4
      } else if (ESCAPED[byte] === 1) state = State.string
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
    state = State.after
    if (stack.length <= told) {
      visitor.scalar('number', capturing ? numberText : null, stack.length, tokenStart, at)
    }
    capturing = false
    return false
  }

  function stepLiteral(byte: number, at: number): void {
    if (byte !== literal.charCodeAt(literalAt)) throw malformed('an unknown word', at)
    if (++literalAt < literal.length) return
    state = State.after
    if (stack.length <= told) visitor.scalar('literal', null, stack.length, tokenStart, at + 1)
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
    readText(chunk.subarray(0, border))
  }

  function readText(text: Buffer): void {
    const valid = validEnd(text)
    read(text.subarray(0, valid))
    if (valid < text.length) throw malformed('it is no UTF-8', offset)
  }

  function read(chunk: Buffer): void {
    const words = wordsOf(chunk)
    let i = 0
    while (i < chunk.length) {
      if (state <= State.after && stack.length > told) {
        i = skim(chunk, words, i)
        if (i === chunk.length) break
      }
      if (state >= State.string && state <= State.hex) {
        const from = i
        if (matched !== UNLIKE) lookOut(chunk, i)
        if (state !== State.string) i = scanEscape(chunk, i)
        if (state === State.string) i = scanString(chunk, words, i)
        if (i < chunk.length) {
          closeString(chunk, from, i)
          i++
        } else if (capturing) captured.push(chunk.subarray(from, i))
        continue
      }
      const byte = chunk[i] as number
      if (state === State.number) {
        if (!stepNumber(byte, offset + i)) continue
      } else if (state === State.literal) stepLiteral(byte, offset + i)
      else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) structural(byte, offset + i)
      i++
    }
    offset += chunk.length
  }

  function end(): void {
    if (partial.length > 0) throw malformed('it is no UTF-8', offset)
    if (state === State.number && stack.length === 0) stepNumber(0x20, offset)
    if (state !== State.after || stack.length > 0) throw malformed('it ends too early', offset)
  }

  return { write, end, met: () => met }
}
