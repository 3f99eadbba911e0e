/** Fits an event's data into its bound: what is too long keeps its beginning and its end, and says how long it was. */
import { createHash } from 'node:crypto'

export const MAX_DATA_BYTES = 65_536
/** Of 64 KiB: 48 KiB of the beginning, 8 KiB of the end. */
const HEAD_SHARE = 3 / 4
const TAIL_SHARE = 1 / 8
const ELLIPSIS = '…'

export interface FittedData {
  data: Record<string, unknown>
  /** `data` as JSON, within the bound. */
  text: string
}

/**
 * Cuts the longest string of `data`, and the next one if that was not enough, until the JSON fits; `cut` then tells the
 * bytes and the digest of the first that was cut. What fits nowhere is replaced by `cut` alone. Lone surrogates become
 * U+FFFD and NUL is dropped.
 */
export function fitData(input: Record<string, unknown>, limitBytes = MAX_DATA_BYTES): FittedData {
  let data = input
  let text = JSON.stringify(data)
  if (/\\u0000|\\ud[89a-f]/i.test(text)) {
    data = cleaned(data) as Record<string, unknown>
    text = JSON.stringify(data)
  }
  let cut: { bytes: number; sha256: string } | null = null
  for (let budget = 1; Buffer.byteLength(text) > limitBytes; budget /= 2) {
    const longest = longestString(data, [])
    if (longest === null || budget < 1 / 64) {
      const whole = cut ?? describe(JSON.stringify(input))
      return { data: { cut: whole }, text: JSON.stringify({ cut: whole }) }
    }
    cut ??= describe(longest.value)
    const short = headAndTail(longest.value, limitBytes * HEAD_SHARE * budget, limitBytes * TAIL_SHARE * budget)
    data = { ...(replaceAt(data, longest.path, short) as Record<string, unknown>), cut }
    text = JSON.stringify(data)
  }
  return { data, text }
}

function describe(whole: string): { bytes: number; sha256: string } {
  return { bytes: Buffer.byteLength(whole), sha256: createHash('sha256').update(whole).digest('hex') }
}

/** Without NUL and half characters: what the log, the transcript, search and the agent all hold alike. */
export function plain(text: string): string {
  return text.toWellFormed().replaceAll('\0', '')
}

/** At most `limit` UTF-8 bytes of the beginning, never half a character. */
export function headBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text
  const bytes = Buffer.from(text)
  let end = limit
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

/**
 * The beginning, `…`, and the end of a text that is longer than both. Of a shorter one, its first half: who cuts that one
 * has no room for it, since its JSON is longer than itself.
 */
export function headAndTail(text: string, headLimit: number, tailLimit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= headLimit + tailLimit) return headBytes(text, Math.floor(bytes.length / 2)) + ELLIPSIS
  let start = bytes.length - Math.floor(tailLimit)
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return headBytes(text, Math.floor(headLimit)) + ELLIPSIS + bytes.toString('utf8', start)
}

/** At most `limit` bytes in all, with `…` where something was left out. */
export function clip(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text
  return headBytes(text, limit - Buffer.byteLength(ELLIPSIS)) + ELLIPSIS
}

type Path = readonly (string | number)[]

function longestString(value: unknown, path: Path): { value: string; path: Path } | null {
  if (typeof value === 'string') return { value, path }
  if (typeof value !== 'object' || value === null) return null
  let longest: { value: string; path: Path } | null = null
  for (const [key, child] of entriesOf(value)) {
    const found = longestString(child, [...path, key])
    if (found !== null && (longest === null || found.value.length > longest.value.length)) longest = found
  }
  return longest
}

function entriesOf(value: object): [string | number, unknown][] {
  return Array.isArray(value) ? value.map((child, index) => [index, child]) : Object.entries(value)
}

function replaceAt(value: unknown, path: Path, text: string): unknown {
  const [key, ...rest] = path
  if (key === undefined) return text
  if (Array.isArray(value)) return value.map((child, index) => (index === key ? replaceAt(child, rest, text) : child))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, name === key ? replaceAt(child, rest, text) : child]),
  )
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return plain(value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, cleaned(child)]))
}
