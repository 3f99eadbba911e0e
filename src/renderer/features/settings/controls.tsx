import { useState } from 'react'
import { strings } from '../../strings/index.ts'
import { Button, Select, Switch, TextField } from '../../ui/index.ts'
import { Row, SwitchRow } from './Row.tsx'
import { mayBe, useSetting } from './useSetting.ts'
import styles from './settings.module.css'

/** A setting that is on or off. */
export function OnOff({ of }: { of: 'keepInTray' | 'notifications' | 'keepTakeoverOnQuit' | 'requestInspector' }) {
  const setting = useSetting(of)
  return (
    <SwitchRow setting={setting}>
      <Switch
        label={strings.settings.label(of)}
        description={setting.about}
        checked={setting.value}
        onChange={setting.set}
      />
    </SwitchRow>
  )
}

/** A setting with a few named values. */
export function Choice<Key extends 'theme' | 'defaultMode'>({
  of,
  labels,
}: {
  of: Key
  labels: Readonly<Record<ReturnType<typeof useSetting<Key>>['value'], string>>
}) {
  const setting = useSetting(of)
  const label = strings.settings.label(of)
  const values = Object.keys(labels) as (keyof typeof labels)[]
  return (
    <Row label={label} about={setting.about} setting={setting}>
      <Select
        label={label}
        value={setting.value}
        items={values.map((value) => ({ value, label: labels[value] }))}
        onChange={setting.set}
      />
    </Row>
  )
}

export interface NumberProps {
  of: 'requestBodyCapMiB' | 'webPort' | 'gatewayPort' | 'runsAtOnce' | 'unattendedAnswerMinutes'
  unit: string
  min: number
  max: number
  /** What no number at all means; absent: there must be one. */
  empty?: string
}

/** A setting that is a whole number, saved by Enter or its button. */
export function WholeNumber({ of, unit, min, max, empty }: NumberProps) {
  const setting = useSetting(of)
  const label = strings.settings.label(of)
  const held = setting.value === null ? '' : String(setting.value)
  return (
    <Row label={label} about={setting.about} setting={setting}>
      <Saved
        key={held}
        label={`${label}: ${unit}`}
        held={held}
        pending={setting.pending}
        {...(empty === undefined ? {} : { description: empty })}
        wrong={(text) =>
          mayBe(of, numberOf(text, empty !== undefined)) ? null : strings.settings.outOfRange(min, max)
        }
        onSave={(text) => {
          const value = numberOf(text, empty !== undefined)
          if (of === 'webPort') setting.set(value)
          else if (value !== null) setting.set(value)
        }}
      />
      <span className={styles.unit} aria-hidden="true">
        {unit}
      </span>
    </Row>
  )
}

function numberOf(text: string, mayBeEmpty: boolean): number | null {
  const trimmed = text.trim()
  if (trimmed === '') return mayBeEmpty ? null : Number.NaN
  return /^\d{1,9}$/.test(trimmed) ? Number(trimmed) : Number.NaN
}

export interface SavedProps {
  label: string
  /** What the host holds. */
  held: string
  pending: boolean
  description?: string
  placeholder?: string
  /** An address needs more room than a number. */
  wide?: boolean
  /** Why it cannot be saved; null: it can. */
  wrong: (text: string) => string | null
  onSave: (text: string) => void
}

/** A short text that is saved by Enter or its button, once it is another than what is held. */
export function Saved({ label, held, pending, description, placeholder, wide = false, wrong, onSave }: SavedProps) {
  const [text, setText] = useState(held)
  const [error, setError] = useState<string | null>(null)
  const save = (): void => {
    const why = wrong(text)
    setError(why)
    if (why === null && text.trim() !== held) onSave(text.trim())
  }
  return (
    <form
      className={styles.saved}
      data-wide={wide ? '' : undefined}
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <TextField
        label={label}
        labelHidden
        mono
        value={text}
        error={error}
        {...(description === undefined ? {} : { description })}
        {...(placeholder === undefined ? {} : { placeholder })}
        onChange={(next) => {
          setText(next)
          setError(null)
        }}
      />
      {text.trim() !== held && (
        <Button type="submit" pending={pending} aria-label={`${strings.settings.save}: ${label}`}>
          {strings.settings.save}
        </Button>
      )}
    </form>
  )
}
