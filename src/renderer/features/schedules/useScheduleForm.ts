import { useState } from 'react'
import type { ScheduleView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { formOf, wrongIn } from './schedule-form.ts'
import type { ScheduleField, ScheduleForm } from './schedule-form.ts'

/** A schedule while it is typed; `onSaved` once the host keeps it. */
export function useScheduleForm(schedule: ScheduleView | null, onSaved: () => void) {
  const [form, setForm] = useState<ScheduleForm>(() => formOf(schedule))
  const [wrong, setWrong] = useState<Partial<Record<ScheduleField, string>>>({})
  const create = useChange('schedules.create')
  const update = useChange('schedules.update')
  return {
    form,
    wrong,
    pending: create.isPending || update.isPending,
    error: create.error ?? update.error,
    change(next: Partial<ScheduleForm>) {
      setForm({ ...form, ...next })
      setWrong({})
    },
    submit() {
      const missing = wrongIn(form)
      setWrong(missing)
      if (Object.keys(missing).length > 0) return
      if (schedule === null) create.mutate(form, { onSuccess: onSaved })
      else update.mutate({ id: schedule.id, expectedRev: schedule.rev, change: form }, { onSuccess: onSaved })
    },
  }
}
