import type { UsageRow } from '../../../shared/bridge/index.ts'

export interface ChartPart {
  readonly name: string
  /** Which of the chart's colours it has. */
  readonly tone: 'first' | 'second' | 'third' | 'fourth' | 'failed'
  /** One for each label; null draws nothing. */
  readonly values: readonly (number | null)[]
}

export interface ChartData {
  readonly what: 'requests' | 'tokens' | 'times'
  readonly labels: readonly string[]
  readonly parts: readonly ChartPart[]
  /** Parts that add up stand on one another; others stand behind one another, the longest at the back. */
  readonly stacked: boolean
}

/** So many bars of groups that have no order of their own. */
export const MOST_GROUPS = 10
const DAY_MS = 86_400_000

/** More days than a person can choose. */
const MOST_DAYS = 400

/**
 * A row for each day from the first to the last: a day on which nothing was asked is a gap that one should see. Not where a
 * clock that was wrong once made the gap.
 */
export function everyDay(rows: readonly UsageRow[]): readonly UsageRow[] {
  const known = new Map(rows.map((row) => [row.key, row]))
  const days = [...known.keys()].sort()
  const [first] = days
  const last = days.at(-1)
  if (first === undefined || last === undefined) return []
  if (Date.parse(last) - Date.parse(first) > MOST_DAYS * DAY_MS) return rows
  const filled: UsageRow[] = []
  // In UTC every day has the same length; what is written are dates alone.
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY_MS) {
    const key = new Date(at).toISOString().slice(0, 10)
    filled.push(known.get(key) ?? { ...NOTHING, key })
  }
  return filled
}

const NOTHING = {
  requests: 0,
  failed: 0,
  input: null,
  cacheRead: null,
  cacheWrite: null,
  output: null,
  reasoning: null,
  firstByteMs: null,
  totalMs: null,
}

/** What the three charts show of these rows, in their order. */
export function chartsOf(
  rows: readonly UsageRow[],
  nameOf: (key: string) => string,
  words: Readonly<
    Record<'done' | 'failed' | 'input' | 'written' | 'cached' | 'output' | 'firstByte' | 'whole', string>
  >,
): readonly ChartData[] {
  const labels = rows.map(({ key }) => nameOf(key))
  const part = (name: string, tone: ChartPart['tone'], of: (row: UsageRow) => number | null): ChartPart => ({
    name,
    tone,
    values: rows.map(of),
  })
  return [
    {
      what: 'requests',
      labels,
      stacked: true,
      parts: [
        part(words.done, 'first', ({ requests, failed }) => requests - failed),
        part(words.failed, 'failed', ({ failed }) => failed),
      ],
    },
    {
      what: 'tokens',
      labels,
      stacked: true,
      parts: [
        part(words.output, 'first', ({ output }) => output),
        part(words.input, 'second', ({ input }) => input),
        part(words.written, 'third', ({ cacheWrite }) => cacheWrite),
        part(words.cached, 'fourth', ({ cacheRead }) => cacheRead),
      ],
    },
    {
      what: 'times',
      labels,
      stacked: false,
      parts: [
        part(words.firstByte, 'first', ({ firstByteMs }) => firstByteMs),
        part(words.whole, 'second', ({ totalMs }) => totalMs),
      ],
    },
  ]
}

/** What is drawn, the longest bar first: each part stands on those before it, if they add up. */
export function layersOf({ parts, stacked }: Pick<ChartData, 'parts' | 'stacked'>): readonly ChartPart[] {
  if (!stacked) return parts.toReversed()
  const sums: number[] = []
  return parts
    .map((part) => ({
      ...part,
      values: part.values.map((value, at) => (sums[at] = (sums[at] ?? 0) + (value ?? 0))),
    }))
    .toReversed()
}
