import { describe, expect, test } from 'vitest'
import { chartsOf, everyDay, layersOf } from '../../../../src/renderer/features/usage/chart-data.ts'
import { strings } from '../../../../src/renderer/strings/index.ts'
import type { UsageRow } from '../../../../src/shared/bridge/index.ts'

const row = (key: string, more: Partial<UsageRow> = {}): UsageRow => ({
  key,
  requests: 3,
  failed: 1,
  input: 100,
  cacheRead: 40,
  cacheWrite: null,
  output: 10,
  reasoning: null,
  firstByteMs: 50,
  totalMs: 900,
  ...more,
})

describe('what the charts of the usage show', () => {
  test('a day without a request has a place of its own, over the end of a month and a change of the clocks too', () => {
    expect(everyDay([row('2026-03-01'), row('2026-02-26')]).map(({ key, requests }) => [key, requests])).toEqual([
      ['2026-02-26', 3],
      ['2026-02-27', 0],
      ['2026-02-28', 0],
      ['2026-03-01', 3],
    ])
    expect(everyDay([row('2026-03-28'), row('2026-03-30')])).toHaveLength(3)
    expect(everyDay([])).toEqual([])
    // A clock was wrong once.
    expect(everyDay([row('2026-03-01'), row('9999-01-01')])).toHaveLength(2)
  })

  test('DT-A35 what a chart draws adds up to the figures of the rows', () => {
    const rows = [row('a'), row('b', { output: null, failed: 0 })]
    const [requests, tokens, times] = chartsOf(rows, (key) => `name of ${key}`, strings.usage)
    expect(requests).toMatchObject({
      labels: ['name of a', 'name of b'],
      parts: [{ values: [2, 3] }, { values: [1, 0] }],
    })
    // The bar at the back is the whole.
    expect(tokens === undefined ? [] : layersOf(tokens)[0]?.values).toEqual([150, 140])
    expect(requests === undefined ? [] : layersOf(requests)[0]?.values).toEqual([3, 3])
    expect(times === undefined ? [] : layersOf(times).map(({ values }) => values)).toEqual([
      [900, 900],
      [50, 50],
    ])
  })
})
