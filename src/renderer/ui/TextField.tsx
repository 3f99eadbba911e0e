import { Field } from '@base-ui/react/field'
import type { ReactNode, Ref } from 'react'
import styles from './TextField.module.css'

export interface TextFieldProps {
  label: string
  name?: string
  value?: string
  defaultValue?: string
  /** Stands under the field, tied to it. The typed text is kept. */
  error?: string | null
  description?: ReactNode
  type?: 'text' | 'password' | 'url' | 'search'
  placeholder?: string
  required?: boolean
  autoFocus?: boolean
  disabled?: boolean
  mono?: boolean
  /** The label is said, not shown. */
  labelHidden?: boolean
  inputRef?: Ref<HTMLInputElement>
  onChange?: (value: string) => void
}

export function TextField(props: TextFieldProps) {
  const {
    label,
    error = null,
    description,
    mono = false,
    labelHidden = false,
    inputRef,
    onChange,
    type = 'text',
    ...input
  } = props
  return (
    <Field.Root className={styles.field} invalid={error !== null}>
      <Field.Label className={styles.label} data-hidden={labelHidden ? '' : undefined}>
        {label}
      </Field.Label>
      <Field.Control
        {...input}
        ref={inputRef}
        type={type}
        className={styles.input}
        data-mono={mono ? '' : undefined}
        autoComplete="off"
        spellCheck={false}
        {...(onChange === undefined ? {} : { onValueChange: (value: string) => onChange(value) })}
      />
      {description !== undefined && <Field.Description className={styles.description}>{description}</Field.Description>}
      {error !== null && (
        <Field.Error className={styles.error} match>
          {error}
        </Field.Error>
      )}
    </Field.Root>
  )
}
