import { structuredPatch } from 'diff'

/** One line of a diff; numbers count from 1, null where a side lacks the line. */
export interface DiffLine {
  kind: 'same' | 'add' | 'del' | 'gap'
  before: number | null
  after: number | null
  text: string
}

export interface DiffRow {
  before: DiffLine | null
  after: DiffLine | null
}

const CONTEXT_LINES = 3
/** A comparison that takes longer is given up: the window stays alive, and both texts are shown whole. */
const TIMEOUT_MS = 200

/** The changed lines with their surroundings. `null` for a file that is not there on that side. */
export function diffLines(oldText: string | null, newText: string | null): DiffLine[] {
  const patch = structuredPatch('', '', oldText ?? '', newText ?? '', '', '', {
    context: CONTEXT_LINES,
    timeout: TIMEOUT_MS,
  })
  if (patch === undefined) return wholeSides(oldText ?? '', newText ?? '')
  const lines: DiffLine[] = []
  for (const [index, hunk] of patch.hunks.entries()) {
    if (index > 0 || hunk.oldStart > 1 || hunk.newStart > 1) {
      lines.push({ kind: 'gap', before: hunk.oldStart, after: hunk.newStart, text: '' })
    }
    let before = hunk.oldStart
    let after = hunk.newStart
    for (const line of hunk.lines) {
      const text = line.slice(1)
      if (line.startsWith('+')) lines.push({ kind: 'add', before: null, after: after++, text })
      else if (line.startsWith('-')) lines.push({ kind: 'del', before: before++, after: null, text })
      else if (line.startsWith(' ')) lines.push({ kind: 'same', before: before++, after: after++, text })
    }
  }
  return lines
}

function wholeSides(oldText: string, newText: string): DiffLine[] {
  const sideOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))
  return [
    ...sideOf(oldText).map((text, index): DiffLine => ({ kind: 'del', before: index + 1, after: null, text })),
    ...sideOf(newText).map((text, index): DiffLine => ({ kind: 'add', before: null, after: index + 1, text })),
  ]
}

/** The same lines in two columns: a removed line stands beside the one that took its place. */
export function pairLines(lines: readonly DiffLine[]): DiffRow[] {
  const rows: DiffRow[] = []
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      rows.push({ before: removed[index] ?? null, after: added[index] ?? null })
    }
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === 'del') removed.push(line)
    else if (line.kind === 'add') added.push(line)
    else {
      flush()
      rows.push({ before: line, after: line })
    }
  }
  flush()
  return rows
}

export function countChanges(lines: readonly DiffLine[]): { added: number; removed: number } {
  return {
    added: lines.filter((line) => line.kind === 'add').length,
    removed: lines.filter((line) => line.kind === 'del').length,
  }
}
