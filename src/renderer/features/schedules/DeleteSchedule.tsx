import type { ScheduleView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { ConfirmDialog, ErrorNote } from '../../ui/index.ts'

export function DeleteSchedule({ schedule, onClose }: { schedule: ScheduleView; onClose: () => void }) {
  const remove = useChange('schedules.delete')
  const { schedules } = strings
  return (
    <ConfirmDialog
      open
      title={schedules.removeTitle(schedule.name)}
      description={schedules.removeText}
      confirm={schedules.removeConfirm}
      cancel={schedules.cancel}
      pending={remove.isPending}
      onConfirm={() => remove.mutate({ id: schedule.id }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {remove.error !== null && <ErrorNote error={remove.error} />}
    </ConfirmDialog>
  )
}
