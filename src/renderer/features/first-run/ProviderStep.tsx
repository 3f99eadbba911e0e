import { useId, useState } from 'react'
import { strings } from '../../strings/index.ts'
import { Button, ErrorNote } from '../../ui/index.ts'
import { ConnectionDialog } from '../providers/index.ts'
import { clientOf } from './useFirstRun.ts'
import type { FirstRunState } from './useFirstRun.ts'
import { useRehearsal } from './useRehearsal.ts'
import styles from './first-run.module.css'

/** Where the agent's model comes from: a Provider, its own login, or the rehearsal. */
export function ProviderStep({
  state,
  onNext,
  onBack,
}: {
  state: FirstRunState
  onNext: () => void
  onBack: () => void
}) {
  const [adding, setAdding] = useState(false)
  const { catalog, agentId, connectionId } = state
  const client = clientOf(agentId)
  const rehearsal = useRehearsal(client, (made) => {
    state.setConnection(made)
    onNext()
  })
  const isThere = catalog?.connections.some((each) => each.preset === 'rehearsal' && each.client === client) === true
  const { firstRun } = strings
  return (
    <>
      <p className={styles.text}>{client === null ? firstRun.ownOnly : firstRun.providerText(agentId)}</p>
      {client !== null && catalog !== null && <Choices state={state} />}
      {client !== null && !isThere && (
        <div className={styles.rehearsalBox}>
          <Button pending={rehearsal.pending} onClick={rehearsal.use}>
            {firstRun.rehearse}
          </Button>
          <span className={styles.small}>{firstRun.rehearsal}</span>
        </div>
      )}
      {rehearsal.error !== null && <ErrorNote error={rehearsal.error} onRetry={rehearsal.use} />}
      <div className={styles.buttons}>
        <Button tone="primary" disabled={client === 'builtin' && connectionId === null} onClick={onNext}>
          {firstRun.continue}
        </Button>
        {client !== null && (
          <Button disabled={catalog === null} onClick={() => setAdding(true)}>
            {firstRun.addProvider}
          </Button>
        )}
        <Button tone="quiet" onClick={onNext}>
          {firstRun.skip}
        </Button>
        <Button tone="quiet" onClick={onBack}>
          {firstRun.back}
        </Button>
      </div>
      {adding && catalog !== null && (
        <ConnectionDialog
          catalog={catalog}
          connection={null}
          client={client}
          onSaved={state.setConnection}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  )
}

function Choices({ state }: { state: FirstRunState }) {
  const name = useId()
  const { catalog, agentId, connectionId } = state
  const { firstRun } = strings
  const own = (catalog?.connections ?? []).filter((each) => each.client === clientOf(agentId))
  const hasLogin = agentId !== 'builtin'
  if (own.length === 0 && !hasLogin) return null
  return (
    <fieldset className={styles.options}>
      <legend className={styles.hidden}>{firstRun.providerTitle}</legend>
      {hasLogin && (
        <Option
          name={name}
          label={firstRun.ownLogin}
          note={firstRun.ownLoginText}
          checked={connectionId === null}
          onChoose={() => state.setConnection(null)}
        />
      )}
      {own.map((connection) => (
        <Option
          key={connection.id}
          name={name}
          label={connection.name}
          note={
            connection.preset === 'rehearsal'
              ? firstRun.rehearsal
              : connection.credentialReady
                ? firstRun.ready
                : firstRun.keyMissing
          }
          checked={connection.id === connectionId}
          onChoose={() => state.setConnection(connection.id)}
        />
      ))}
    </fieldset>
  )
}

function Option({
  name,
  label,
  note,
  checked,
  onChoose,
}: {
  name: string
  label: string
  note: string
  checked: boolean
  onChoose: () => void
}) {
  const id = useId()
  return (
    <div className={styles.option} data-checked={checked ? '' : undefined}>
      <input id={id} type="radio" name={name} checked={checked} aria-describedby={`${id}-note`} onChange={onChoose} />
      <label htmlFor={id}>{label}</label>
      <span id={`${id}-note`} className={styles.state}>
        {note}
      </span>
    </div>
  )
}
