import { Field } from '@base-ui/react/field'
import styles from './TextField.module.css'

export interface TextAreaProps {
  label: string
  value: string
  placeholder?: string
  /** Stands under the field, tied to it. */
  error?: string | null
  autoFocus?: boolean
  onChange: (value: string) => void
  /** Enter without Shift. */
  onEnter?: () => void
}

/** Text of several lines. */
export function TextArea({ label, value, error = null, onChange, onEnter, ...rest }: TextAreaProps) {
  return (
    <Field.Root className={styles.field} invalid={error !== null}>
      <Field.Label className={styles.label}>{label}</Field.Label>
      <Field.Control
        render={<textarea />}
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
      {error !== null && (
        <Field.Error className={styles.error} match>
          {error}
        </Field.Error>
      )}
    </Field.Root>
  )
}
