import type { TargetView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Switch, TextField } from '../../ui/index.ts'
import type { PlaceForm } from './place-form.ts'

export interface WebhookFieldsProps {
  form: PlaceForm
  /** Null: a new one. */
  place: TargetView | null
  error: string | null
  onChange: (next: Partial<PlaceForm>) => void
}

export function WebhookFields({ form, place, error, onChange }: WebhookFieldsProps) {
  const { deliveries } = strings
  const stored = place?.kind === 'webhook' ? place : null
  const hasToken = stored?.hasToken === true
  return (
    <>
      <TextField
        label={deliveries.url}
        type="url"
        mono
        value={form.url}
        error={error}
        description={stored === null ? deliveries.urlText : deliveries.urlKept(stored.address ?? '')}
        onChange={(url) => onChange({ url })}
      />
      <TextField
        label={deliveries.token}
        type="password"
        mono
        value={form.token}
        disabled={form.dropToken}
        description={hasToken ? deliveries.tokenKept : deliveries.tokenText}
        onChange={(token) => onChange({ token })}
      />
      {hasToken && (
        <Switch
          label={deliveries.dropToken}
          checked={form.dropToken}
          onChange={(dropToken) => onChange({ dropToken })}
        />
      )}
      <TextField
        label={deliveries.header}
        mono
        value={form.header}
        placeholder="Idempotency-Key"
        description={deliveries.headerText}
        onChange={(header) => onChange({ header })}
      />
    </>
  )
}
