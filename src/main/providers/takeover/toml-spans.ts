/**
 * Where the statements of a TOML file stand. It tells keys, values, headers and comments apart and judges nothing: the file
 * has passed a whole parser before, and the edited one passes it again.
 */
import { parse } from 'smol-toml'
import { BOM } from './text.ts'

/** Offsets into the text, `[start, end)`. */
export interface TomlSpan {
  readonly start: number
  readonly end: number
}

export interface TomlEntry {
  readonly path: readonly string[]
  readonly key: TomlSpan
  readonly value: TomlSpan
  /** The header it stands under; null: a root key. */
  readonly header: TomlHeader | null
}

export interface TomlHeader extends TomlSpan {
  readonly path: readonly string[]
  readonly isArray: boolean
}

export interface TomlSpans {
  readonly entries: readonly TomlEntry[]
  readonly headers: readonly TomlHeader[]
  /** Comments that have a line to themselves. */
  readonly comments: readonly TomlSpan[]
}

const BARE = /[A-Za-z0-9_-]/

/** The text must be valid TOML. */
export function findTomlSpans(text: string): TomlSpans {
  const entries: TomlEntry[] = []
  const headers: TomlHeader[] = []
  const comments: TomlSpan[] = []
  let header: TomlHeader | null = null
  let at = text.startsWith(BOM) ? 1 : 0
  for (;;) {
    at = skip(text, at, ' \t\r\n')
    const first = text[at]
    if (first === undefined) return { entries, headers, comments }
    const start = at
    if (first === '#') {
      at = endOfComment(text, at)
      comments.push({ start, end: at })
      continue
    }
    if (first === '[') {
      const isArray = text[at + 1] === '['
      const named = readKey(text, at + (isArray ? 2 : 1))
      const end = named.end + (isArray ? 2 : 1)
      header = { path: named.path, isArray, start, end }
      headers.push(header)
      at = end
    } else {
      const named = readKey(text, at)
      const valueStart = skip(text, named.end + 1, ' \t')
      const end = endOfValue(text, valueStart)
      entries.push({
        path: named.path,
        key: { start, end: named.keyEnd },
        value: { start: valueStart, end },
        header,
      })
      at = end
    }
    at = skip(text, at, ' \t')
    if (text[at] === '#') at = endOfComment(text, at)
    else if (at === start) throw new Error('no TOML statement')
  }
}

function skip(text: string, from: number, what: string): number {
  let at = from
  for (let char = text[at]; char !== undefined && what.includes(char); char = text[at]) at++
  return at
}

function endOfComment(text: string, from: number): number {
  const lf = text.indexOf('\n', from)
  const end = lf === -1 ? text.length : lf
  return text[end - 1] === '\r' ? end - 1 : end
}

/** A dotted key; `end` is at what follows it and its white space. */
function readKey(text: string, from: number): { path: string[]; keyEnd: number; end: number } {
  const path: string[] = []
  let at = from
  for (;;) {
    at = skip(text, at, ' \t')
    const start = at
    const quote = text[at]
    if (quote === '"' || quote === "'") at = endOfLine(text, at, quote)
    else while (BARE.test(text[at] ?? '')) at++
    if (at === start) throw new Error('no TOML key')
    path.push(keyText(text.slice(start, at)))
    const keyEnd = at
    at = skip(text, at, ' \t')
    if (text[at] !== '.') return { path, keyEnd, end: at }
    at++
  }
}

function keyText(token: string): string {
  if (token.startsWith("'")) return token.slice(1, -1)
  if (!token.startsWith('"')) return token
  return token.includes('\\') ? (Object.keys(parse(`${token} = 0`))[0] ?? '') : token.slice(1, -1)
}

/** Behind a value of any kind. */
function endOfValue(text: string, from: number): number {
  const first = text[from]
  if (first === '"' || first === "'") return endOfString(text, from, first)
  if (first === '[' || first === '{') return endOfBrackets(text, from)
  let at = from
  while (at < text.length && !'#\r\n'.includes(text[at] ?? '')) at++
  while (at > from && ' \t'.includes(text[at - 1] ?? '')) at--
  return at
}

function endOfBrackets(text: string, from: number): number {
  let depth = 0
  let at = from
  while (at < text.length) {
    const char = text[at] ?? ''
    if (char === '"' || char === "'") {
      at = endOfString(text, at, char)
      continue
    }
    if (char === '#') {
      at = endOfComment(text, at)
      continue
    }
    if (char === '[' || char === '{') depth++
    if (char === ']' || char === '}') depth--
    at++
    if (depth === 0) return at
  }
  throw new Error('an array or table does not end')
}

function endOfString(text: string, from: number, quote: string): number {
  return text.startsWith(quote.repeat(3), from) ? endOfLines(text, from, quote) : endOfLine(text, from, quote)
}

function endOfLine(text: string, from: number, quote: string): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === quote) return at + 1
    if (text[at] === '\\' && quote === '"') at++
  }
  throw new Error('a string does not end')
}

/** Up to two quotes may stand right before the three that end it. */
function endOfLines(text: string, from: number, quote: string): number {
  const triple = quote.repeat(3)
  let at = from + 3
  for (;;) {
    if (at >= text.length) throw new Error('a string does not end')
    if (text[at] === '\\' && quote === '"') at += 2
    else if (text.startsWith(triple, at)) break
    else at++
  }
  at += 3
  for (let more = 0; more < 2 && text[at] === quote; more++) at++
  return at
}
