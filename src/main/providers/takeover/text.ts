/** A config file as text that goes back to the very same bytes, and the edits of it. */
import { AppError } from '../../../shared/errors.ts'
import type { Splice } from '../router/splices.ts'

export const BOM = '\uFEFF'

/** Keeps a byte order mark. @throws AppError `takeover_config_malformed`: no UTF-8. */
export function decodeConfig(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw malformed(path, 'it is no UTF-8 text', cause)
  }
}

/** `said`: a parser's own words, which are made a part of the sentence. */
export function malformed(path: string, said: string, cause?: unknown): AppError {
  const why = said.replace(/^The request body is no valid JSON: /, '').replace(/\.+$/, '')
  return new AppError(
    'takeover_config_malformed',
    `The config file ${path} cannot be read: ${why}. Nothing was changed. Correct the file, then try again.`,
    { detail: why, ...(cause === undefined ? {} : { cause }) },
  )
}

/** The line ending that most lines have; LF where it is a tie. */
export function dominantEol(text: string): '\n' | '\r\n' {
  const crlf = text.split('\r\n').length - 1
  const lf = text.split('\n').length - 1 - crlf
  return crlf > lf ? '\r\n' : '\n'
}

/** The text with its spans replaced. They do not overlap; of two insertions at one place the first stays first. */
export function spliceText(text: string, splices: readonly Splice[]): string {
  let at = 0
  let out = ''
  for (const splice of splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    out += text.slice(at, splice.start) + splice.text
    at = splice.end
  }
  return out + text.slice(at)
}

/** Where the line around `at` begins. */
export function lineStart(text: string, at: number): number {
  const before = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
  return before === 0 && text.startsWith(BOM) ? 1 : before
}

/** Behind the line ending of the line around `at`. */
export function lineEnd(text: string, at: number): number {
  const lf = text.indexOf('\n', at)
  return lf === -1 ? text.length : lf + 1
}

/** Where a line ending begins that ends right at `at`; `at` itself where there is none. */
export function beforeEol(text: string, at: number): number {
  if (text[at - 1] !== '\n') return at
  return text[at - 2] === '\r' ? at - 2 : at - 1
}
