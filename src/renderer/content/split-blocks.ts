/** Parts grow to at least this before they are cut. */
const PART_CHARS = 1_500
const FENCE = /^ {0,3}(`{3,}|~{3,})/
/** Lines that may go on with what stood above the empty line. */
const CONTINUES = /^(?:\s|[-*+>|]|\d+[.)])/

/**
 * Cuts Markdown between blocks, so that each part can be parsed alone. Never inside of a fence, a list or a quote. Text
 * that is appended changes the last part only.
 */
export function splitBlocks(text: string): string[] {
  if (text.length <= PART_CHARS) return [text]
  const parts: string[] = []
  let fence: string | null = null
  let from = 0
  let at = 0
  let afterEmpty = false
  for (const line of text.split('\n')) {
    if (fence === null && afterEmpty && line !== '' && at - from >= PART_CHARS && !CONTINUES.test(line)) {
      parts.push(text.slice(from, at))
      from = at
    }
    const mark = FENCE.exec(line)?.[1]
    if (mark !== undefined) {
      if (fence === null) fence = mark
      else if (mark.startsWith(fence) && line.trim() === mark) fence = null
    }
    afterEmpty = line.trim() === ''
    at += line.length + 1
  }
  parts.push(text.slice(from))
  return parts
}
