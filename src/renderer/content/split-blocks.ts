/** Parts grow to at least this before they are cut between blocks. */
const PART_CHARS = 1_500
/** From here on a cut at the next line will do, so that no block is parsed again and again while it grows. */
const LONG_PART_CHARS = 4_000
/** From here on even a row of a table or an indented line begins a new part. */
const MAX_PART_CHARS = 16_000
/** A line without a break that is longer than this is no prose: no parser walks it. */
const MAX_LINE_CHARS = 20_000

/** What follows the mark of a fence holds no mark of its own: that would be code within a line. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/
/** Lines that may go on with what stood above the empty line. */
const CONTINUES = /^(?:\s|[-*+>|]|\d+[.)])/
/** Lines that make no sense without the line above. */
const DEPENDS = /^[\s|]/

export interface Part {
  /** `code`: one fence with its first and, if it came yet, last line. `plain`: not to be parsed. */
  kind: 'markdown' | 'code' | 'plain'
  text: string
}

/**
 * Cuts Markdown between blocks, so that each part can be parsed alone: never inside of a fence, and inside of a list, a
 * quote or a paragraph only where it is longer than anybody writes. Together the parts are the text. Text that is appended
 * changes the last part only.
 */
export function splitBlocks(text: string): Part[] {
  return splitFrom(text, 0)
}

/**
 * The same for text that grows: what was settled before is not walked again. A text that does not begin with the settled
 * part of the one before is split anew.
 */
export function createBlockSplitter(): (text: string) => readonly Part[] {
  let settled: Part[] = []
  let prefix = ''
  return (text) => {
    if (!text.startsWith(prefix)) {
      settled = []
      prefix = ''
    }
    const rest = splitFrom(text, prefix.length)
    const parts = [...settled, ...rest]
    if (rest.length > 1) {
      settled = parts.slice(0, -1)
      prefix = text.slice(0, text.length - (rest.at(-1)?.text.length ?? 0))
    }
    return parts
  }
}

function splitFrom(text: string, start: number): Part[] {
  if (start === 0 && text.length <= PART_CHARS) return [{ kind: 'markdown', text }]
  const parts: Part[] = []
  let fence: string | null = null
  let kind: Part['kind'] = 'markdown'
  let from = start
  let afterEmpty = false
  const cutAt = (at: number): void => {
    if (at > from) parts.push({ kind, text: text.slice(from, at) })
    from = at
    kind = 'markdown'
  }
  for (let at = start; at < text.length;) {
    const end = text.indexOf('\n', at)
    // A line that may still grow is not judged: what is said of it now could be wrong in a moment.
    if (end < 0) {
      if (text.length - at > MAX_LINE_CHARS && kind === 'markdown') kind = 'plain'
      break
    }
    const line = text.slice(at, end)
    const mark = FENCE.exec(line)?.[1]
    if (fence !== null) {
      if (mark?.startsWith(fence) === true && line.trim() === mark) {
        fence = null
        if (kind === 'code') cutAt(end + 1)
      }
    } else if (mark !== undefined && line.startsWith(mark)) {
      cutAt(at)
      kind = 'code'
      fence = mark
    } else {
      if (mustCut(line, at - from, afterEmpty)) cutAt(at)
      if (mark !== undefined) fence = mark
      if (end - at > MAX_LINE_CHARS) kind = 'plain'
    }
    afterEmpty = line.trim() === ''
    at = end + 1
  }
  if (from < text.length || parts.length === 0) parts.push({ kind, text: text.slice(from) })
  return parts
}

function mustCut(line: string, chars: number, afterEmpty: boolean): boolean {
  if (chars >= MAX_PART_CHARS) return true
  if (line.trim() === '' || chars < PART_CHARS) return false
  if (afterEmpty && !CONTINUES.test(line)) return true
  return chars >= LONG_PART_CHARS && !DEPENDS.test(line)
}
