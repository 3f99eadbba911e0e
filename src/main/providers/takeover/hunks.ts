/** The places of a file that a change touches, as lines to read before it is agreed to. */
import type { Splice } from '../router/splices.ts'
import { lineEnd, lineStart, spliceText } from './text.ts'
import type { PlanHunk } from './types.ts'

/** Names whose values are nobody's to read; a gateway key stands in an address, too. */
const SECRET_NAME = /key|token|secret|passw|auth|cookie|credential/i
const SECRET_VALUE = /(?:whg_|sk-|ghp_|eyJ)[A-Za-z0-9_-]{8,}/g
const HIDDEN = '…'

/** `splices` on `before`, in any order. Neighbouring ones become one place. */
export function hunksOf(before: string, splices: readonly Splice[]): readonly PlanHunk[] {
  const places: { start: number; end: number; splices: Splice[] }[] = []
  for (const splice of splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const start = lineStart(before, splice.start)
    const end = splice.end === splice.start && splice.start === start ? start : lineEnd(before, splice.end)
    const last = places.at(-1)
    if (last !== undefined && start < Math.max(last.end, last.start + 1)) {
      last.end = Math.max(last.end, end)
      last.splices.push(splice)
    } else places.push({ start, end, splices: [splice] })
  }
  return places.map(({ start, end, splices: inside }) => {
    const old = before.slice(start, end)
    const moved = inside.map((splice) => ({ ...splice, start: splice.start - start, end: splice.end - start }))
    return {
      line: before.slice(0, start).split('\n').length,
      before: linesOf(old),
      after: linesOf(spliceText(old, moved)),
    }
  })
}

function linesOf(text: string): readonly string[] {
  if (text === '') return []
  return text
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map(blank)
}

/** A line with what may be a secret blanked: the person knows it, and a window need not. */
function blank(line: string): string {
  const hidden = line.replaceAll(SECRET_VALUE, (value) => `${value.slice(0, 4)}${HIDDEN}`)
  const assigned = /^(\s*["']?[\w.\- ]+["']?\s*[=:]\s*)(.+)$/.exec(hidden)
  const [, name = '', value = ''] = assigned ?? []
  if (assigned === null || !SECRET_NAME.test(name) || !/["']/.test(value)) return hidden
  return name + value.replaceAll(/(["'])(?!whg_)(?:\\.|(?!\1).)*\1/g, `$1${HIDDEN}$1`)
}
