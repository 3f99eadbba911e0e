import { useId } from 'react'
import { strings } from '../../strings/index.ts'
import { Button, Dialog, ErrorNote, TextField } from '../../ui/index.ts'
import { CheckList } from './CheckList.tsx'
import { SuggestedAgents } from './SuggestedAgents.tsx'
import styles from './health.module.css'
import { useAddAgent } from './useAddAgent.ts'

/** Adds an ACP agent by its command. What its check found stands below the form; a failed one can be added all the same. */
export function AddAgentDialog({ onClose }: { onClose: () => void }) {
  const formId = useId()
  const form = useAddAgent()
  const { ownAgents } = strings
  const { values, found, pending } = form
  const added = found?.added === true
  const submit = (): void => {
    const element = document.querySelector(`#${CSS.escape(formId)}`)
    if (element instanceof HTMLFormElement) element.requestSubmit()
  }
  return (
    <Dialog
      open
      size="wide"
      title={ownAgents.title}
      description={ownAgents.about}
      onClose={onClose}
      actions={
        added ? (
          <Button tone="primary" onClick={onClose}>
            {ownAgents.done}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{ownAgents.cancel}</Button>
            {found !== null && <Button onClick={() => form.submit(true)}>{ownAgents.addEvenSo}</Button>}
            <Button tone="primary" pending={pending} onClick={submit}>
              {ownAgents.check}
            </Button>
          </>
        )
      }
    >
      {!added && <SuggestedAgents pending={pending} onTake={form.take} />}
      {!added && (
        <form
          id={formId}
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault()
            form.submit(false)
          }}
        >
          <TextField
            label={ownAgents.name}
            placeholder={ownAgents.namePlaceholder}
            required
            value={values.label}
            onChange={(value) => form.change('label', value)}
          />
          <TextField
            label={ownAgents.command}
            description={ownAgents.commandHint}
            mono
            required
            value={values.commandLine}
            onChange={(value) => form.change('commandLine', value)}
          />
          <TextField
            label={ownAgents.passEnv}
            description={ownAgents.passEnvHint}
            mono
            value={values.passEnv}
            onChange={(value) => form.change('passEnv', value)}
          />
          <button type="submit" hidden disabled={pending} tabIndex={-1} aria-hidden="true" />
        </form>
      )}
      {form.error !== null && <ErrorNote error={form.error} />}
      {found !== null && (
        <div className={styles.found} role="status">
          <p>{added ? ownAgents.added(found.agent.label, found.agent.id) : ownAgents.failed}</p>
          <CheckList checks={found.agent.checks} />
        </div>
      )}
    </Dialog>
  )
}
