import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { CatalogView, ConnectionView, SwitchStep } from '../../../shared/bridge/index.ts'
import { useCall, useChange } from '../../bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { strings } from '../../strings/index.ts'
import { Button, Dialog, ErrorNote, Switch } from '../../ui/index.ts'
import styles from './providers.module.css'

interface SwitchDialogProps {
  catalog: CatalogView
  connection: ConnectionView
  onClose: () => void
}

/** Moves an agent and its running sessions to a Provider; what happens to each is said before anything does. */
export function SwitchDialog({ catalog, connection, onClose }: SwitchDialogProps) {
  const { id, name, client } = connection
  const [allowHistoryStrip, setAllowed] = useState(false)
  const preview = useCall('providers.previewSwitch', { client, connectionId: id, allowHistoryStrip })
  const change = useChange('providers.switch')
  const queries = useQueryClient()
  // Sessions come and go: the next look is a new one.
  useEffect(() => () => queries.removeQueries({ queryKey: ['providers.previewSwitch'] }), [queries])
  const { providers } = strings
  const agent = strings.agents.name(client)
  const stayed = change.data?.steps.filter(({ effect }) => effect.kind === 'refused') ?? []
  if (change.isSuccess && stayed.length > 0) {
    return (
      <Dialog
        open
        title={providers.switchTitle(agent, name)}
        description={providers.switchDone}
        onClose={onClose}
        actions={<Button onClick={onClose}>{providers.close}</Button>}
      >
        <Steps steps={stayed} />
      </Dialog>
    )
  }
  const steps = preview.data?.steps ?? []
  const moving = steps.filter(({ effect }) => effect.kind !== 'refused')
  const needsStrip = steps.some(
    ({ effect }) =>
      (effect.kind === 'refused' && effect.code === 'route_binding_incompatible') ||
      (effect.kind !== 'refused' && effect.historyStripped),
  )
  const confirm = (): void =>
    change.mutate(
      { client, connectionId: id, expectedRevision: catalog.revision, allowHistoryStrip },
      { onSuccess: ({ steps }) => steps.every(({ effect }) => effect.kind !== 'refused') && onClose() },
    )
  return (
    <Dialog
      open
      title={providers.switchTitle(agent, name)}
      description={preview.data === undefined ? null : providers.switchText(agent, preview.data.modelId)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{providers.cancel}</Button>
          <Button
            tone="primary"
            pending={change.isPending}
            disabled={preview.data === undefined || preview.isFetching}
            onClick={confirm}
          >
            {providers.switchConfirm(moving.length)}
          </Button>
        </>
      }
    >
      {preview.isPending && <p role="status">{providers.switchLooking}</p>}
      {preview.error !== null && <ErrorNote error={preview.error} onRetry={() => void preview.refetch()} />}
      {preview.data !== undefined && steps.length === 0 && <p>{providers.switchNone}</p>}
      {steps.length > 0 && <Steps steps={steps} />}
      {(needsStrip || allowHistoryStrip) && (
        <Switch
          label={providers.switchStrip}
          description={providers.switchStripNote}
          checked={allowHistoryStrip}
          onChange={setAllowed}
        />
      )}
      {change.error !== null && <ErrorNote error={change.error} />}
    </Dialog>
  )
}

function Steps({ steps }: { steps: readonly SwitchStep[] }) {
  const sessions = useTopic('sessions', (state) => state.value)
  const { providers } = strings
  return (
    <ul className={styles.steps} aria-label={providers.switchList}>
      {steps.map(({ sessionId, from, to, effect }) => (
        <li key={sessionId} className={styles.step}>
          <strong>{sessions.get(sessionId)?.title ?? providers.switchGone}</strong>
          {effect.kind !== 'refused' && <span>{providers.switchModel(from.modelId ?? '', to.modelId ?? '')}</span>}
          {effect.kind !== 'refused' && from.effort !== to.effort && (
            <span>
              {providers.switchEffort(strings.session.efforts[from.effort], strings.session.efforts[to.effort])}
            </span>
          )}
          <span className={styles.small}>{effectText(effect)}</span>
        </li>
      ))}
    </ul>
  )
}

function effectText(effect: SwitchStep['effect']): string {
  const { providers } = strings
  if (effect.kind === 'refused') return providers.switchStays(providers.refused(effect.code))
  const when = effect.kind === 'now' ? providers.switchNow : providers.switchNextTurn
  return effect.historyStripped ? `${when}; ${providers.switchStripped}` : when
}
