import { useState } from 'react'
import type { TargetView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, Dialog, ErrorNote, Select, Switch, TextField } from '../../ui/index.ts'
import { formOf, targetOf, wrongIn } from './place-form.ts'
import type { PlaceField, PlaceForm } from './place-form.ts'
import { WebhookFields } from './WebhookFields.tsx'
import styles from './deliveries.module.css'

const { deliveries } = strings
const RUNS = (['all', 'scheduled', 'named'] as const).map((value) => ({ value, label: deliveries.runsOf[value] }))

export interface PlaceDialogProps {
  /** Null: a new one. */
  place: TargetView | null
  /** Why this host can show no notification; null: it can. */
  notificationsUnavailable: string | null
  onClose: () => void
}

/** Adds or edits a place. An address or token that is typed here is handed over once and shown nowhere again. */
export function PlaceDialog({ place, notificationsUnavailable, onClose }: PlaceDialogProps) {
  const [form, setForm] = useState<PlaceForm>(() => formOf(place))
  const [wrong, setWrong] = useState<Partial<Record<PlaceField, string>>>({})
  const save = useChange('deliveries.targets.save')
  const change = (next: Partial<PlaceForm>): void => {
    setForm({ ...form, ...next })
    setWrong({})
  }
  const submit = (): void => {
    const missing = wrongIn(form, place?.kind === 'webhook')
    setWrong(missing)
    if (Object.keys(missing).length > 0) return
    save.mutate({ ...(place === null ? {} : { id: place.id }), target: targetOf(form) }, { onSuccess: onClose })
  }
  return (
    <Dialog
      open
      title={place === null ? deliveries.addTitle : deliveries.editTitle(place.name)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{deliveries.cancel}</Button>
          <Button tone="primary" pending={save.isPending} onClick={submit}>
            {deliveries.save}
          </Button>
        </>
      }
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {place === null && (
          <div className={styles.field}>
            <span className={styles.small} aria-hidden="true">
              {deliveries.fieldKind}
            </span>
            <Select
              label={deliveries.fieldKind}
              value={form.kind}
              items={(['webhook', 'file_drop', 'os_notification'] as const).map((value) => ({
                value,
                label: deliveries.kind(value),
                ...(value === 'os_notification' && notificationsUnavailable !== null
                  ? { note: notificationsUnavailable, disabled: true }
                  : {}),
              }))}
              onChange={(kind) => change({ kind })}
            />
          </div>
        )}
        <TextField
          label={deliveries.name}
          value={form.name}
          error={wrong.name ?? null}
          onChange={(name) => change({ name })}
        />
        {form.kind === 'webhook' && (
          <WebhookFields form={form} place={place} error={wrong.url ?? null} onChange={change} />
        )}
        {form.kind === 'file_drop' && (
          <TextField
            label={deliveries.folder}
            mono
            value={form.folder}
            error={wrong.folder ?? null}
            onChange={(folder) => change({ folder })}
          />
        )}
        <div className={styles.field}>
          <span className={styles.small} aria-hidden="true">
            {deliveries.runs}
          </span>
          <Select label={deliveries.runs} value={form.runs} items={RUNS} onChange={(runs) => change({ runs })} />
        </div>
        <Switch label={deliveries.enabled} checked={form.enabled} onChange={(enabled) => change({ enabled })} />
        <button type="submit" hidden tabIndex={-1} aria-hidden="true" />
      </form>
      {save.error !== null && <ErrorNote error={save.error} onRetry={submit} />}
    </Dialog>
  )
}
