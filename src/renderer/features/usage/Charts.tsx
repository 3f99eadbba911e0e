import { useMemo } from 'react'
import type { UsageRow } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { amount, dayName, duration } from '../../text/index.ts'
import { Chart } from './Chart.tsx'
import { chartsOf, everyDay, MOST_GROUPS } from './chart-data.ts'
import type { UsageGroup } from './UsageTable.tsx'
import styles from './usage.module.css'

const FORMATS = { requests: amount, tokens: amount, times: duration } as const

export interface ChartsProps {
  by: UsageGroup
  rows: readonly UsageRow[]
  /** In words. */
  period: string
  nameOf: (key: string) => string
}

/** Requests, tokens and times of the same groups side by side. */
export function Charts({ by, rows, period, nameOf }: ChartsProps) {
  const { usage } = strings
  const charts = useMemo(
    () =>
      by === 'day'
        ? chartsOf(everyDay(rows), dayName, strings.usage)
        : chartsOf(rows.slice(0, MOST_GROUPS), nameOf, strings.usage),
    [by, rows, nameOf],
  )
  return (
    <>
      <div className={styles.charts}>
        {charts.map((data) => (
          <Chart
            key={data.what}
            data={data}
            heading={usage.charts[data.what]}
            label={usage.chart(usage.charts[data.what], usage.groups[by], period)}
            direction={by === 'day' ? 'across' : 'down'}
            format={FORMATS[data.what]}
          />
        ))}
      </div>
      {by !== 'day' && rows.length > MOST_GROUPS && <p className={styles.note}>{usage.most(MOST_GROUPS)}</p>}
    </>
  )
}
