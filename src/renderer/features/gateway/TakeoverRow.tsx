import { useState } from 'react'
import type { TakeoverView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { PathText } from '../../text/index.ts'
import {
  Button,
  ConfirmDialog,
  ErrorNote,
  Row,
  RowActions,
  RowHead,
  Select,
  StateMark,
  Switch,
} from '../../ui/index.ts'
import type { MarkState } from '../../ui/index.ts'
import { BreakerMark } from '../providers/index.ts'
import { EnableDialog } from './EnableDialog.tsx'
import { Warnings } from './Warnings.tsx'
import styles from './gateway.module.css'

const MARKS: Readonly<Record<TakeoverView['state'], MarkState>> = {
  active: 'running',
  inactive: 'idle',
  drifted: 'waiting',
  broken: 'failed',
}
const NONE = 'none'

/** One agent: whether its own file leads here, where its requests go, and what to do when the two differ. */
export function TakeoverRow({ takeover, upstream }: { takeover: TakeoverView; upstream: string | null }) {
  const { client, state, detail, warnings, configPath, enabled, restoreAvailable } = takeover
  const [asking, setAsking] = useState<'enable' | 'repair' | 'restore' | null>(null)
  const disable = useChange('gateway.disable')
  const { gateway } = strings
  return (
    <Row data-state={state}>
      <RowHead>
        <StateMark showLabel state={MARKS[state]} label={gateway.state(state)} />
        <strong>{gateway.client(client)}</strong>
        <PathText path={configPath} />
        <Upstream client={client} chosen={upstream} />
        <RowActions>
          {(state === 'drifted' || detail === 'gateway_not_listening') && (
            <Button aria-label={gateway.named(gateway.repair, client)} onClick={() => setAsking('repair')}>
              {gateway.repair}
            </Button>
          )}
          {restoreAvailable && (enabled || state !== 'inactive') && (
            <Button aria-label={gateway.named(gateway.restore, client)} onClick={() => setAsking('restore')}>
              {gateway.restore}
            </Button>
          )}
        </RowActions>
      </RowHead>
      {/* It shows what is, never what was asked for. */}
      <Switch
        label={gateway.toggle(client)}
        checked={enabled}
        disabled={disable.isPending}
        onChange={(next) => (next ? setAsking('enable') : disable.mutate({ client }))}
      />
      {detail !== null && <p className={styles.detail}>{gateway.detail(detail)}</p>}
      {warnings.length > 0 && <Warnings warnings={warnings} />}
      {disable.error !== null && <ErrorNote error={disable.error} />}
      {asking === 'enable' && <EnableDialog client={client} upstream={upstream} onClose={() => setAsking(null)} />}
      {asking === 'repair' && <RepairDialog takeover={takeover} onClose={() => setAsking(null)} />}
      {asking === 'restore' && <RestoreDialog client={client} onClose={() => setAsking(null)} />}
    </Row>
  )
}

function Upstream({ client, chosen }: { client: TakeoverView['client']; chosen: string | null }) {
  const catalog = useTopic('providers', (state) => state.value)
  const choose = useChange('gateway.setUpstream')
  const { gateway } = strings
  const offered = catalog?.connections.filter((connection) => connection.client === client) ?? []
  if (catalog !== null && offered.length === 0)
    return (
      <span className={styles.small}>
        {gateway.noProvider(client)} <a href={viewHash({ kind: 'providers' })}>{gateway.addProvider}</a>
      </span>
    )
  const breaker = offered.find(({ id }) => id === chosen)?.breaker
  const items = [
    { value: NONE, label: gateway.noUpstream },
    ...offered.map(({ id, name }) => ({ value: id, label: name })),
  ]
  return (
    <>
      <span className={styles.upstream}>
        <span aria-hidden="true">{gateway.goesTo}</span>
        <Select
          label={gateway.upstream(client)}
          value={chosen ?? NONE}
          items={items}
          disabled={choose.isPending}
          onChange={(value) => choose.mutate({ client, connectionId: value === NONE ? null : value })}
        />
      </span>
      {breaker !== undefined && <BreakerMark breaker={breaker} />}
      {choose.error !== null && <ErrorNote error={choose.error} />}
    </>
  )
}

function RepairDialog({ takeover, onClose }: { takeover: TakeoverView; onClose: () => void }) {
  const { client, enabled, detail } = takeover
  const repair = useChange('gateway.repair')
  const { gateway } = strings
  // What leads here without a record is taken over again; what else is left where this is off goes.
  const writes = enabled || detail === 'state_missing'
  return (
    <ConfirmDialog
      open
      title={gateway.repairTitle(client)}
      description={writes ? gateway.repairText : gateway.repairRemoves}
      confirm={gateway.repair}
      cancel={gateway.cancel}
      pending={repair.isPending}
      onConfirm={() => repair.mutate({ client }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {repair.error !== null && <ErrorNote error={repair.error} />}
    </ConfirmDialog>
  )
}

function RestoreDialog({ client, onClose }: { client: TakeoverView['client']; onClose: () => void }) {
  const restore = useChange('gateway.restoreBackup')
  const { gateway } = strings
  return (
    <ConfirmDialog
      open
      title={gateway.restoreTitle(client)}
      description={gateway.restoreText}
      confirm={gateway.restore}
      cancel={gateway.cancel}
      pending={restore.isPending}
      onConfirm={() => restore.mutate({ client }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {restore.error !== null && <ErrorNote error={restore.error} />}
    </ConfirmDialog>
  )
}
