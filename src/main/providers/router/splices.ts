/** Edits of a body by byte spans: what lies outside of them is never touched. */

/** Replaces `[start, end)` by `text`; an insertion has `start === end`, a cut an empty text. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The edited body as views of the given chunks. `splices` do not overlap; their order does not matter. */
export function applySplices(chunks: readonly Uint8Array[], splices: readonly Splice[]): Uint8Array[] {
  const ordered = splices.toSorted((a, b) => a.start - b.start || a.end - b.end)
  const out: Uint8Array[] = []
  let index = 0
  let base = 0

  /** Ranges come in order, so the chunks are walked once. */
  function keep(start: number, end: number): void {
    for (let chunk = chunks[index]; chunk !== undefined; chunk = chunks[++index]) {
      const from = Math.max(start - base, 0)
      const to = Math.min(end - base, chunk.length)
      if (from < to) out.push(chunk.subarray(from, to))
      if (base + chunk.length >= end) return
      base += chunk.length
    }
  }

  let position = 0
  for (const splice of ordered) {
    keep(position, splice.start)
    if (splice.text !== '') out.push(Buffer.from(splice.text, 'utf8'))
    position = splice.end
  }
  keep(position, Number.POSITIVE_INFINITY)
  return out
}

/** Collects the cuts that remove items from one array or object, each with exactly one of its commas. */
export interface ListCutter {
  itemStarts(start: number): void
  itemEnds(end: number, drop: boolean): void
  /** Answers how many items stay. */
  listEnds(): number
}

export function createListCutter(cuts: Splice[]): ListCutter {
  let kept = 0
  let start = 0
  let previousEnd = 0
  /** A dropped item with nothing kept before it: it takes the comma behind it, once one is seen. */
  let leading: { start: number; end: number } | null = null
  return {
    itemStarts(at) {
      if (leading !== null) cuts.push({ start: leading.start, end: at, text: '' })
      leading = null
      start = at
    },
    itemEnds(end, drop) {
      if (!drop) kept++
      else if (kept > 0) cuts.push({ start: previousEnd, end, text: '' })
      else leading = { start, end }
      previousEnd = end
    },
    listEnds() {
      if (leading !== null) cuts.push({ ...leading, text: '' })
      leading = null
      return kept
    },
  }
}
