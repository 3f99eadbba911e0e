import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { ErrorNote, Select, View } from '../../ui/index.ts'
import { Charts } from './Charts.tsx'
import { useGroupNames } from './useGroupNames.ts'
import { UsageTable } from './UsageTable.tsx'
import type { UsageGroup } from './UsageTable.tsx'
import styles from './usage.module.css'

const GROUPS = ['day', 'session', 'connection', 'model'] as const
const PERIODS = ['1', '7', '30', '90', '366'] as const
type Period = (typeof PERIODS)[number]

/** Requests, tokens and times of all that Router and gateway carried. */
export function UsageView() {
  const [by, setBy] = useState<UsageGroup>('day')
  const [days, setDays] = useState<Period>('30')
  const summary = useCall('usage.summary', { by, days: Number(days) })
  const nameOf = useGroupNames(by)
  const queries = useQueryClient()
  // Requests go on: the next look counts anew.
  useEffect(() => () => queries.removeQueries({ queryKey: ['usage.summary'] }), [queries])
  const { usage } = strings
  const rows = summary.data?.rows ?? null
  return (
    <View title={usage.heading} about={usage.intro}>
      <div className={styles.pickers}>
        <Select<UsageGroup>
          label={usage.by}
          value={by}
          items={GROUPS.map((value) => ({ value, label: usage.groups[value] }))}
          onChange={setBy}
        />
        <Select<Period>
          label={usage.period}
          value={days}
          items={PERIODS.map((value) => ({ value, label: usage.periods[value] }))}
          onChange={setDays}
        />
      </div>
      {summary.isPending && <p role="status">{usage.loading}</p>}
      {summary.error !== null && <ErrorNote error={summary.error} onRetry={() => void summary.refetch()} />}
      {rows?.length === 0 && <p>{usage.empty}</p>}
      {rows !== null && rows.length > 0 && (
        <>
          <Charts by={by} rows={rows} period={usage.periods[days]} nameOf={nameOf} />
          <UsageTable
            by={by}
            rows={rows}
            caption={usage.table(usage.groups[by], usage.periods[days])}
            nameOf={nameOf}
          />
        </>
      )}
    </View>
  )
}
