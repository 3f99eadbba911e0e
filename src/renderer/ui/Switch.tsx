import { Switch as Base } from '@base-ui/react/switch'
import styles from './Switch.module.css'

export interface SwitchProps {
  label: string
  description?: string
  checked: boolean
  disabled?: boolean
  onChange: (checked: boolean) => void
}

export function Switch({ label, description, checked, disabled = false, onChange }: SwitchProps) {
  return (
    <label className={styles.row}>
      <Base.Root
        className={styles.track}
        checked={checked}
        disabled={disabled}
        onCheckedChange={(next) => onChange(next)}
      >
        <Base.Thumb className={styles.thumb} />
      </Base.Root>
      <span>
        {label}
        {description !== undefined && <span className={styles.description}>{description}</span>}
      </span>
    </label>
  )
}
