import type { Mode } from '../../../shared/vocabulary.ts'
import { strings } from '../../strings/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { Select } from '../../ui/index.ts'
import styles from './NewSession.module.css'

/** How freely the agent may act. */
export function ModeField({ value, onChange }: { value: Mode; onChange: (mode: Mode) => void }) {
  const osEnabled = useTopic('settings', (state) => state.value['osModeEnabled'] === true)
  const modes = (['plan', 'agent', 'yolo', 'os'] as const).filter((mode) => mode !== 'os' || osEnabled)
  return (
    <div className={styles.field}>
      <span className={styles.label} aria-hidden="true">
        {strings.newSession.mode}
      </span>
      <Select<Mode>
        label={strings.newSession.mode}
        value={value}
        items={modes.map((mode) => ({
          value: mode,
          label: strings.newSession.modes[mode],
          note: strings.newSession.modeNotes[mode],
        }))}
        onChange={onChange}
      />
      <span className={styles.why}>{strings.newSession.modeNotes[value]}</span>
    </div>
  )
}
