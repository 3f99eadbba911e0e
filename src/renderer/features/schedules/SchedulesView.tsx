import { useState } from 'react'
import type { ScheduleView } from '../../../shared/bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { strings } from '../../strings/index.ts'
import { navigate, useView } from '../../stores/navigation.ts'
import { Button, EmptyState, Rows, View } from '../../ui/index.ts'
import { DeleteSchedule } from './DeleteSchedule.tsx'
import { ScheduleDialog } from './ScheduleDialog.tsx'
import { ScheduleRow } from './ScheduleRow.tsx'
import styles from './schedules.module.css'

type Open = { kind: 'add' } | { kind: 'edit' | 'delete'; schedule: ScheduleView }

/** Every schedule: when it is due next, what became of the last time, and what can be done with it. */
export function SchedulesView() {
  const loaded = useTopic('schedules', (state) => state.loaded)
  const { schedules: all, executing } = useTopic('schedules', (state) => state.value)
  const view = useView()
  const wanted = view.kind === 'schedules' && view.add === true
  const [chosen, setOpen] = useState<Open | null>(null)
  const open: Open | null = chosen ?? (wanted && loaded ? { kind: 'add' } : null)
  const { schedules } = strings
  const addButton = (
    <Button tone="primary" onClick={() => setOpen({ kind: 'add' })}>
      {schedules.add}
    </Button>
  )
  const close = (): void => {
    setOpen(null)
    if (wanted) navigate({ kind: 'schedules' })
  }
  return (
    <View title={schedules.heading} about={schedules.about} action={all.length > 0 && addButton}>
      {loaded && !executing && all.length > 0 && <p className={styles.warn}>{schedules.notExecuting}</p>}
      {loaded && all.length === 0 && (
        <EmptyState title={schedules.none} action={addButton}>
          {schedules.noneHint}
        </EmptyState>
      )}
      {all.length > 0 && (
        <Rows aria-label={schedules.heading}>
          {all.map((schedule) => (
            <ScheduleRow
              key={schedule.id}
              schedule={schedule}
              onEdit={() => setOpen({ kind: 'edit', schedule })}
              onDelete={() => setOpen({ kind: 'delete', schedule })}
            />
          ))}
        </Rows>
      )}
      {open !== null && open.kind !== 'delete' && (
        <ScheduleDialog schedule={open.kind === 'edit' ? open.schedule : null} onClose={close} />
      )}
      {open?.kind === 'delete' && <DeleteSchedule schedule={open.schedule} onClose={close} />}
    </View>
  )
}
