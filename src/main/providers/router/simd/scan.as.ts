/**
 * What reads most bytes of most bodies, sixteen at a time. AssemblyScript: `npm run wasm` compiles it into scan.wasm.ts.
 * The memory begins with what index.ts lays there, as offsets below say; the text stands behind it.
 */
const STACK: usize = 0
const LOOKOUT: usize = 128
const HEAD: usize = 256
const REGISTERS: usize = 512

/** As index.ts names them. */
const NOW: usize = REGISTERS
const DEPTH: usize = REGISTERS + 4
const IS_KEY: usize = REGISTERS + 8
const ESCAPED: usize = REGISTERS + 12
const MET: usize = REGISTERS + 16
const MATCHED: usize = REGISTERS + 20

const MAX_DEPTH: i32 = 128

/** As json-scanner.ts numbers them. */
const VALUE: i32 = 0
const VALUE_OR_END: i32 = 1
const KEY_OR_END: i32 = 2
const KEY: i32 = 3
const COLON: i32 = 4
const AFTER: i32 = 5
const STRING: i32 = 6

/**
 * From inside a string: the index of its closing quote; of a backslash whose escape is none, or is not whole in here; of a
 * control character; or `end`.
 */
export function stringEnd(from: usize, end: usize): usize {
  const quote = i8x16.splat(0x22)
  const backslash = i8x16.splat(0x5c)
  const space = i8x16.splat(0x20)
  let at = from
  while (at < end) {
    const bytes = v128.load(at)
    const quoted = i8x16.eq(bytes, quote)
    const escapes = i8x16.eq(bytes, backslash)
    const control = i8x16.lt_u(bytes, space)
    let special = i8x16.bitmask(v128.or(v128.or(quoted, escapes), control))
    if (special == 0) {
      at += 16
      continue
    }
    // One after another, as far as they stand in these sixteen.
    const block = at
    at += 16
    while (special != 0) {
      const found = block + ctz(special)
      if (found >= end) return end
      if (load<u8>(found) != 0x5c) return found
      const size = escapeSize(found, end)
      if (size == 0) return found
      store<i32>(ESCAPED, 1)
      const next = found + size
      if (next >= block + 16) {
        at = next
        break
      }
      special &= -1 << (next - block)
    }
  }
  return end
}

/** Of the letters behind a backslash, a bit each: `"` and `/`; `\\`, `b`, `f`, `n`, `r` and `t`. */
const ESCAPED_BELOW: u64 = (1 << 0x22) | (1 << 0x2f)
const ESCAPED_ABOVE: u64 = (1 << 0x1c) | (1 << 0x22) | (1 << 0x26) | (1 << 0x2e) | (1 << 0x32) | (1 << 0x34)

/** 0: it is no escape, or `end` cuts it. */
function escapeSize(at: usize, end: usize): usize {
  if (at + 2 > end) return 0
  const letter = load<u8>(at + 1)
  if (letter == 0x75) {
    if (at + 6 > end) return 0
    return isHex(at + 2) && isHex(at + 3) && isHex(at + 4) && isHex(at + 5) ? 6 : 0
  }
  if (letter >= 0x80) return 0
  const letters = letter < 0x40 ? ESCAPED_BELOW : ESCAPED_ABOVE
  return (<usize>((letters >> (letter & 63)) & 1)) << 1
}

function isHex(at: usize): bool {
  const byte = load<u8>(at)
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

/** Tells whether a string begins with what is looked out for, `length` letters, of which it has `already` that many. */
export function lookOut(from: usize, end: usize, length: i32, already: i32): void {
  let at = from
  let matched = already
  while (at < end && matched < length && load<u8>(at) == load<u8>(LOOKOUT + matched)) {
    at++
    matched++
  }
  const hides = at < end && load<u8>(at) == 0x5c && (at + 1 == end || load<u8>(at + 1) == 0x75)
  if (matched == length || hides) store<i32>(MET, 1)
  store<i32>(MATCHED, at < end ? -1 : matched)
}

/**
 * Inside of what nobody wants: brackets, commas and strings, as far as they are in order. Answers where something else
 * stands: a number or a word, a bracket that ends a container of depth `told`, what is no JSON, a string that is cut.
 */
export function skim(from: usize, end: usize, told: i32, lookout: i32): usize {
  let now = load<i32>(NOW)
  let depth = load<i32>(DEPTH)
  let at = from
  for (; at < end; at++) {
    const byte = load<u8>(at)
    if (byte == 0x22) {
      if (now == AFTER || now == COLON) break
      const isKey = now == KEY || now == KEY_OR_END
      store<i32>(IS_KEY, isKey ? 1 : 0)
      if (lookout > 0) lookOut(at + 1, end, lookout, 0)
      at = stringEnd(at + 1, end)
      if (at >= end || load<u8>(at) != 0x22) {
        now = STRING
        break
      }
      now = isKey ? COLON : AFTER
    } else if (byte == 0x3a) {
      if (now != COLON) break
      now = VALUE
    } else if (byte == 0x2c) {
      if (now != AFTER) break
      now = load<u8>(STACK + depth - 1) != 0 ? KEY : VALUE
    } else if (byte == 0x7b || byte == 0x5b) {
      if (now > VALUE_OR_END || depth >= MAX_DEPTH) break
      const isObject = byte == 0x7b
      store<u8>(STACK + depth, isObject ? 1 : 0)
      depth++
      now = isObject ? KEY_OR_END : VALUE_OR_END
    } else if (byte == 0x7d || byte == 0x5d) {
      const isObject = byte == 0x7d
      if (depth <= told + 1) break
      if (now != AFTER && now != (isObject ? KEY_OR_END : VALUE_OR_END)) break
      if ((load<u8>(STACK + depth - 1) != 0) != isObject) break
      depth--
      now = AFTER
    } else if (byte != 0x20 && byte != 0x0a && byte != 0x0d && byte != 0x09) break
  }
  store<i32>(NOW, now)
  store<i32>(DEPTH, depth)
  return at
}

/** Where the next LF or CR stands; else `end`. */
export function lineEnd(from: usize, end: usize): usize {
  const highest = i8x16.splat(0x0d)
  let at = from
  while (at < end) {
    at = lowByte(at, end, highest)
    const byte = load<u8>(at)
    if (byte == 0x0a || byte == 0x0d) break
    at++
  }
  return min(at, end)
}

/** Where the next byte stands that is no higher than CR; else `end`. Sixty-four at a time: some of them may be behind it. */
@inline
function lowByte(from: usize, end: usize, highest: v128): usize {
  for (let at = from; at < end; at += 64) {
    const first = v128.load(at)
    const second = v128.load(at, 16)
    const third = v128.load(at, 32)
    const fourth = v128.load(at, 48)
    const lowest = i8x16.min_u(i8x16.min_u(first, second), i8x16.min_u(third, fourth))
    if (lowOnes(lowest, highest) == 0) continue
    const low = lowOnes(first, highest) | (lowOnes(second, highest) << 16)
    return at + <usize>ctz(low | (lowOnes(third, highest) << 32) | (lowOnes(fourth, highest) << 48))
  }
  return end
}

/** A bit for each of 16 bytes: it is no higher than that. */
@inline
function lowOnes(bytes: v128, highest: v128): u64 {
  return <u64>i8x16.bitmask(i8x16.le_u(bytes, highest))
}

/** As many go one by one before it pays to look for a second place. */
const FEW: i32 = 4
/** How far that is looked for. */
const MAX_LOOK: usize = 2_048

/**
 * From the beginning of an event: passes over whole ones that begin with the head, `length` bytes, and consist of that and
 * one line of data. Answers where another one begins, or one that is not whole in here. Where an event begins is known only
 * once the one before was read, and a processor waits for that: so it goes on from two places in turns, from one half of
 * the text and from the other.
 */
export function skipEvents(from: usize, end: usize, length: i32): usize {
  const highest = i8x16.splat(0x0d)
  let at = from
  let middle = end
  let ahead = end
  for (let count = 1; at < middle; count++) {
    const next = eventEnd(at, end, length, highest)
    if (next == at) return at
    at = next
    if (count == FEW) {
      middle = eventBegin((at + end) >> 1, end)
      ahead = middle
    } else if (count > FEW) ahead = eventEnd(ahead, end, length, highest)
  }
  let next = ahead
  do {
    at = next
    next = eventEnd(at, end, length, highest)
  } while (next != at)
  return at
}

/** Where an event begins for sure, since a blank line stands before it; `end` where none does so soon. */
function eventBegin(from: usize, end: usize): usize {
  const limit = min(end, from + MAX_LOOK)
  let at = from
  do {
    at = lineEnd(at, limit) + 1
  } while (at < limit && load<u16>(at - 1) != 0x0a0a)
  return at < limit ? at + 1 : end
}

/** Of an event to pass over; `at`, where none such begins, or what a tab stands in, or it is not whole in here. */
@inline
function eventEnd(at: usize, end: usize, length: i32, highest: v128): usize {
  if (at + length > end || !beginsWithHead(at, length) || !isData(at + length)) return at
  const line = lowByte(at + length, end, highest)
  return line + 1 < end && load<u16>(line) == 0x0a0a ? line + 2 : at
}

/** Of a line that is whole in here; the end of another may be older text. */
@inline
function isData(at: usize): bool {
  return load<u32>(at) == 0x61746164 && load<u8>(at + 4) == 0x3a
}

/** Sixteen at a time: the last of them may overlap those before. A head is no shorter. */
@inline
function beginsWithHead(at: usize, length: i32): bool {
  const last = length - 16
  const begins = v128.xor(v128.load(at), v128.load(HEAD))
  let differs = v128.or(begins, v128.xor(v128.load(at + last), v128.load(HEAD + last)))
  for (let i = 16; i < last; i += 16) {
    differs = v128.or(differs, v128.xor(v128.load(at + i), v128.load(HEAD + i)))
  }
  return !v128.any_true(differs)
}
