import { useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { exactTime } from '../../text/index.ts'
import { Select, TextField } from '../../ui/index.ts'
import { cronWords } from './cron-words.ts'
import { PRESET_LINES, presetOf } from './schedule-form.ts'
import type { Preset, ScheduleForm } from './schedule-form.ts'
import styles from './schedules.module.css'

const { schedules } = strings
const PRESETS = (Object.keys(schedules.presets) as Preset[]).map((value) => ({
  value,
  label: schedules.presets[value],
}))

/** When it is due: a usual time, or a line of a crontab, with the times that come of it. */
export function WhenFields({
  form,
  onChange,
}: {
  form: Pick<ScheduleForm, 'cron' | 'timeZone'>
  onChange: (next: Partial<ScheduleForm>) => void
}) {
  const { cron, timeZone } = form
  const times = useCall(
    'schedules.times',
    { cron: cron.trim(), timeZone: timeZone.trim() },
    { enabled: cron.trim() !== '' && timeZone.trim() !== '' },
  )
  return (
    <>
      <div className={styles.pair}>
        <div className={styles.field}>
          <span className={styles.small} aria-hidden="true">
            {schedules.how}
          </span>
          <Select<Preset>
            label={schedules.how}
            value={presetOf(cron)}
            items={PRESETS}
            onChange={(preset) => onChange(preset === 'custom' ? {} : { cron: PRESET_LINES[preset] })}
          />
        </div>
        <TextField
          label={schedules.cron}
          mono
          value={cron}
          description={schedules.cronText}
          error={times.error?.message ?? null}
          onChange={(next) => onChange({ cron: next })}
        />
        <TextField label={schedules.zone} value={timeZone} onChange={(next) => onChange({ timeZone: next })} />
      </div>
      {times.data !== undefined && times.error === null && (
        <p className={styles.small} role="status">
          {cronWords(cron.trim())}
          {'. '}
          {times.data.times.length === 0
            ? schedules.noTimes
            : `${schedules.times}: ${times.data.times.slice(0, 3).map(exactTime).join(' · ')}`}
        </p>
      )}
    </>
  )
}
