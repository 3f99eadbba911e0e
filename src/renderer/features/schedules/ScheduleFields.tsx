import type { Mode } from '../../../shared/vocabulary.ts'
import { useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Select, Switch, TextArea, TextField } from '../../ui/index.ts'
import { FolderPicker } from '../folders/index.ts'
import { ModelField } from '../new-session/index.ts'
import type { ScheduleField, ScheduleForm } from './schedule-form.ts'
import { WhenFields } from './WhenFields.tsx'
import styles from './schedules.module.css'

const MODES = (['plan', 'agent', 'yolo'] as const).map((value) => ({
  value,
  label: strings.newSession.modes[value],
  note: strings.newSession.modeNotes[value],
}))

export interface ScheduleFieldsProps {
  form: ScheduleForm
  wrong: Partial<Record<ScheduleField, string>>
  onChange: (next: Partial<ScheduleForm>) => void
}

/** What is asked of whom, where, and when. */
export function ScheduleFields({ form, wrong, onChange }: ScheduleFieldsProps) {
  const agents = useCall('agents.list', {})
  const places = useCall('deliveries.targets.list', {})
  const { schedules } = strings
  const listed = agents.data?.agents ?? []
  const known = listed.some(({ id }) => id === form.agentId)
  const items = [
    ...listed.map(({ id, label }) => ({ value: id, label })),
    ...(known ? [] : [{ value: form.agentId, label: strings.agents.name(form.agentId) }]),
  ]
  const targets = places.data?.targets ?? []
  return (
    <>
      <TextField
        label={schedules.name}
        value={form.name}
        error={wrong.name ?? null}
        onChange={(name) => onChange({ name })}
      />
      <TextArea
        label={schedules.prompt}
        value={form.prompt}
        error={wrong.prompt ?? null}
        onChange={(prompt) => onChange({ prompt })}
      />
      <div className={styles.pair}>
        <Labelled label={schedules.agent}>
          <Select
            label={schedules.agent}
            value={form.agentId}
            items={items}
            // What one agent runs on is not offered to another.
            onChange={(agentId) => onChange(agentId === form.agentId ? {} : { agentId, choice: null })}
          />
        </Labelled>
        <Labelled label={schedules.mode}>
          <Select<Exclude<Mode, 'os'>>
            label={schedules.mode}
            value={form.mode}
            items={MODES}
            onChange={(mode) => onChange({ mode })}
          />
        </Labelled>
        <ModelField agentId={form.agentId} value={form.choice} onChange={(choice) => onChange({ choice })} />
      </div>
      <FolderPicker value={form.workDir} error={wrong.workDir ?? null} onChange={(workDir) => onChange({ workDir })} />
      <WhenFields form={form} onChange={onChange} />
      <Switch
        label={schedules.catchUp}
        description={schedules.catchUpText}
        checked={form.catchUp}
        onChange={(catchUp) => onChange({ catchUp })}
      />
      {targets.length > 0 && (
        <fieldset className={styles.fieldset}>
          <legend className={styles.small}>{schedules.deliverTo}</legend>
          {targets.map(({ id, name }) => (
            <Switch
              key={id}
              label={name}
              checked={form.deliverTo.includes(id)}
              onChange={(on) =>
                onChange({ deliverTo: on ? [...form.deliverTo, id] : form.deliverTo.filter((each) => each !== id) })
              }
            />
          ))}
        </fieldset>
      )}
    </>
  )
}

function Labelled({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div className={styles.field}>
      <span className={styles.small} aria-hidden="true">
        {label}
      </span>
      {children}
    </div>
  )
}
