import { strings } from '../../strings/index.ts'
import { Select } from '../../ui/index.ts'
import styles from './NewSession.module.css'

export interface ConfinementFieldProps {
  value: boolean
  /** Null: this agent can be kept to its folders here. */
  whyNot: string | null
  onChange: (kept: boolean) => void
}

/** Whether a sandbox stands round the agent. */
export function ConfinementField({ value, whyNot, onChange }: ConfinementFieldProps) {
  const { newSession } = strings
  const chosen = value ? 'kept' : 'open'
  return (
    <div className={styles.field}>
      <span className={styles.label} aria-hidden="true">
        {newSession.confinement}
      </span>
      <Select<'open' | 'kept'>
        label={newSession.confinement}
        value={chosen}
        items={[
          { value: 'open', label: newSession.confinements.open },
          { value: 'kept', label: newSession.confinements.kept, disabled: whyNot !== null },
        ]}
        onChange={(next) => onChange(next === 'kept')}
      />
      <span className={styles.why}>{whyNot ?? newSession.confinementNotes[chosen]}</span>
    </div>
  )
}
