import { useEffect, useId, useRef } from 'react'
import type { CatalogView, ConnectionView } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import type { ClientId } from '../../../shared/vocabulary.ts'
import { strings } from '../../strings/index.ts'
import { Button, Dialog, ErrorNote } from '../../ui/index.ts'
import { ConnectionFields } from './ConnectionFields.tsx'
import { revisionOf } from './form.ts'
import type { Agents } from './form.ts'
import { TestLine } from './TestLine.tsx'
import { useConnectionForm } from './useConnectionForm.ts'
import styles from './providers.module.css'

export interface ConnectionDialogProps {
  catalog: CatalogView
  /** Null: a new one. */
  connection: ConnectionView | null
  /** The agent of a new one; null: any. */
  client?: ClientId | null
  /** What the agent of a new one is chosen from. */
  agents?: Agents
  onSaved?: (connectionId: string | null) => void
  /** A new one was saved, but could not be made the default. */
  onNotDefault?: (error: AppError) => void
  onClose: () => void
}

/** Adds or edits a Provider. A key that is typed here is handed over once and shown nowhere again. */
export function ConnectionDialog({
  catalog,
  connection,
  client = null,
  agents = null,
  onSaved,
  onNotDefault,
  onClose,
}: ConnectionDialogProps) {
  const formId = useId()
  const tester = useRef<HTMLButtonElement>(null)
  const form = useConnectionForm(
    { catalog, connection, client, agents },
    {
      onSaved(connectionId) {
        onSaved?.(connectionId)
        onClose()
      },
      onNotDefault: (error) => onNotDefault?.(error),
    },
  )
  const { save, test } = form
  const fields = useRef<HTMLFormElement>(null)
  const refused = save.error ?? test.error
  useEffect(() => {
    if (refused !== null) fields.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [refused])
  const { providers } = strings
  return (
    <Dialog
      open
      title={connection === null ? providers.addTitle : providers.editTitle(connection.name)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{providers.cancel}</Button>
          <Button ref={tester} pending={test.pending} disabled={save.pending} onClick={form.runTest}>
            {providers.test}
          </Button>
          <SubmitButton formId={formId} pending={save.pending} label={providers.save} />
        </>
      }
    >
      <form
        ref={fields}
        id={formId}
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          form.submit()
        }}
      >
        <ConnectionFields catalog={catalog} connection={connection} client={client} agents={agents} form={form} />
        <button type="submit" hidden disabled={save.pending} tabIndex={-1} aria-hidden="true" />
      </form>
      <TestLine asking={test} asker={tester} saidInField={form.saidInField(test.error)} />
      {save.error !== null && revisionOf(save.error) !== null && (
        <p role="alert" className={styles.warning}>
          {providers.changedMeanwhile}
        </p>
      )}
      {save.error !== null && revisionOf(save.error) === null && !form.saidInField(save.error) && (
        <ErrorNote error={save.error} onRetry={form.submit} />
      )}
    </Dialog>
  )
}

/** Stands below the form, outside of its element. */
function SubmitButton({ formId, pending, label }: { formId: string; pending: boolean; label: string }) {
  return (
    <Button
      tone="primary"
      pending={pending}
      onClick={() => {
        const form = document.querySelector(`#${CSS.escape(formId)}`)
        if (form instanceof HTMLFormElement) form.requestSubmit()
      }}
    >
      {label}
    </Button>
  )
}
