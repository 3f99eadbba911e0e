import type { ScheduleView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, Dialog, ErrorNote } from '../../ui/index.ts'
import { ScheduleFields } from './ScheduleFields.tsx'
import { useScheduleForm } from './useScheduleForm.ts'
import styles from './schedules.module.css'

export interface ScheduleDialogProps {
  /** Null: a new one. */
  schedule: ScheduleView | null
  onClose: () => void
}

/** Makes a schedule, or changes one. */
export function ScheduleDialog({ schedule, onClose }: ScheduleDialogProps) {
  const { form, wrong, pending, error, change, submit } = useScheduleForm(schedule, onClose)
  const { schedules } = strings
  return (
    <Dialog
      open
      size="wide"
      title={schedule === null ? schedules.addTitle : schedules.editTitle(schedule.name)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{schedules.cancel}</Button>
          <Button tone="primary" pending={pending} onClick={submit}>
            {schedules.save}
          </Button>
        </>
      }
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <ScheduleFields form={form} wrong={wrong} onChange={change} />
        <button type="submit" hidden tabIndex={-1} aria-hidden="true" />
      </form>
      {error !== null && <ErrorNote error={error} onRetry={submit} />}
    </Dialog>
  )
}
