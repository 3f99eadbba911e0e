import { Field } from '@base-ui/react/field'
import { useState } from 'react'
import type { FormEvent, ReactNode, Ref } from 'react'
import { strings } from '../strings/index.ts'
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

/** One line of text. What a form may not be sent with is said under the field, in our own words. */
export function TextField(props: TextFieldProps) {
  const {
    label,
    error: given = null,
    description,
    mono = false,
    labelHidden = false,
    inputRef,
    onChange,
    type = 'text',
    ...input
  } = props
  const [refused, setRefused] = useState<string | null>(null)
  const error = given ?? refused
  const change = (value: string): void => {
    setRefused(null)
    onChange?.(value)
  }
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
        onValueChange={change}
        onInvalid={(event) => setRefused(refusal(event))}
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

/** In the place of the browser's bubble: the reason, and the focus where the first one is. */
function refusal(event: FormEvent<HTMLInputElement>): string {
  event.preventDefault()
  const { form, validity } = event.currentTarget
  const first = [...(form?.elements ?? [])].find((each) => each instanceof HTMLInputElement && !each.validity.valid)
  if (first === event.currentTarget) event.currentTarget.focus()
  return validity.typeMismatch ? strings.errors.noAddress : strings.errors.missing
}
