/** Edits of a body by byte spans: what lies outside of them is never touched. */
import type { Pace } from './body-pass.ts'

/** Replaces `[start, end)` by `text`; an insertion has `start === end`, a cut an empty text. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** What is shorter is copied together with its neighbours: a body of many edits would leave in as many writes. */
const SMALL_BYTES = 4_096
const JOINED_BYTES = 65_536
/** So many edits in a row take far less than the event loop may wait. */
const EDITS_AT_ONCE = 64

/** The edited body, mostly as views of the given chunks. `splices` do not overlap; their order does not matter. */
export function applySplices(chunks: readonly Uint8Array[], splices: readonly Splice[]): Uint8Array[] {
  const splicer = createSplicer(chunks)
  for (const splice of ordered(splices)) splicer.take(splice)
  return splicer.end()
}

/** As `applySplices`, with `pace` between the steps: there may be a hundred thousand edits. @throws as `pace`. */
export async function applySplicesInTurns(
  chunks: readonly Uint8Array[],
  splices: readonly Splice[],
  pace: Pace,
): Promise<Uint8Array[]> {
  const splicer = createSplicer(chunks)
  for (const [index, splice] of ordered(splices).entries()) {
    splicer.take(splice)
    if (index % EDITS_AT_ONCE === EDITS_AT_ONCE - 1) await pace()
  }
  return splicer.end()
}

function ordered(splices: readonly Splice[]): readonly Splice[] {
  return splices.toSorted((a, b) => a.start - b.start || a.end - b.end)
}

/** Is given the edits in order. */
function createSplicer(chunks: readonly Uint8Array[]): { take(splice: Splice): void; end(): Uint8Array[] } {
  const out: Uint8Array[] = []
  let small: Uint8Array[] = []
  let smallBytes = 0
  let index = 0
  let base = 0
  let position = 0

  function join(): void {
    if (small.length > 0) out.push(Buffer.concat(small, smallBytes))
    small = []
    smallBytes = 0
  }

  function put(bytes: Uint8Array): void {
    if (bytes.length >= SMALL_BYTES) {
      join()
      out.push(bytes)
      return
    }
    small.push(bytes)
    smallBytes += bytes.length
    if (smallBytes >= JOINED_BYTES) join()
  }

  /** Ranges come in order, so the chunks are walked once. */
  function keep(start: number, end: number): void {
    for (let chunk = chunks[index]; chunk !== undefined; chunk = chunks[++index]) {
      const from = Math.max(start - base, 0)
      const to = Math.min(end - base, chunk.length)
      if (from < to) put(chunk.subarray(from, to))
      if (base + chunk.length >= end) return
      base += chunk.length
    }
  }

  return {
    take({ start, end, text }) {
      keep(position, start)
      if (text !== '') put(Buffer.from(text, 'utf8'))
      position = end
    },
    end() {
      keep(position, Number.POSITIVE_INFINITY)
      join()
      return out
    },
  }
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
