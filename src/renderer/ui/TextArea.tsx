import { Field } from '@base-ui/react/field'
import styles from './TextField.module.css'

export interface TextAreaProps {
  label: string
  value: string
  rows?: number
  placeholder?: string
  autoFocus?: boolean
  onChange: (value: string) => void
  /** Enter without Shift. */
  onEnter?: () => void
}

/** Text of several lines. */
export function TextArea({ label, value, rows = 3, onChange, onEnter, ...rest }: TextAreaProps) {
  return (
    <Field.Root className={styles.field}>
      <Field.Label className={styles.label}>{label}</Field.Label>
      <Field.Control
        render={<textarea rows={rows} />}
        {...rest}
        className={styles.input}
        data-multiline=""
        value={value}
        onValueChange={(next: string) => onChange(next)}
        onKeyDown={(event) => {
          if (onEnter === undefined || event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          onEnter()
        }}
      />
    </Field.Root>
  )
}
