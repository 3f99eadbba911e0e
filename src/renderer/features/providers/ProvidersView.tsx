import { useState } from 'react'
import type { ConnectionView } from '../../../shared/bridge/index.ts'
import { useCall, useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, EmptyState, ErrorNote } from '../../ui/index.ts'
import { ConnectionDialog } from './ConnectionDialog.tsx'
import { ConnectionRow } from './ConnectionRow.tsx'
import { Fallbacks } from './Fallbacks.tsx'
import { useCatalog } from './useCatalog.ts'
import styles from './providers.module.css'

/** Every Provider of this machine: what it serves, whether it is ready, and its models. */
export function ProvidersView() {
  const catalog = useCatalog()
  const agents = useCall('agents.list', {})
  const [editing, setEditing] = useState<ConnectionView | 'new' | null>(null)
  const { providers } = strings
  const add = (
    <Button tone="primary" disabled={catalog === null} onClick={() => setEditing('new')}>
      {providers.add}
    </Button>
  )
  const backend = catalog === null ? null : providers.backend(catalog.credentialBackend)
  return (
    <section className={styles.view} aria-labelledby="providers-heading">
      <header className={styles.head}>
        <h1 id="providers-heading">{providers.heading}</h1>
        {catalog !== null && catalog.connections.length > 0 && add}
        <p className={styles.intro}>{providers.intro}</p>
      </header>
      {backend !== null && <p className={styles.warning}>{backend}</p>}
      {catalog?.credentialBackend === 'file' && <MoveKeys />}
      {catalog !== null && catalog.connections.length === 0 && (
        <EmptyState title={providers.empty} action={add}>
          {providers.emptyText}
        </EmptyState>
      )}
      {catalog !== null && catalog.connections.length > 0 && (
        <ul className={styles.list} aria-label={providers.list}>
          {catalog.connections.map((connection) => (
            <ConnectionRow
              key={connection.id}
              catalog={catalog}
              connection={connection}
              onEdit={() => setEditing(connection)}
            />
          ))}
        </ul>
      )}
      {catalog !== null && <Fallbacks catalog={catalog} />}
      {catalog !== null && editing !== null && (
        <ConnectionDialog
          catalog={catalog}
          connection={editing === 'new' ? null : editing}
          agents={agents.data?.agents ?? null}
          onClose={() => setEditing(null)}
        />
      )}
    </section>
  )
}

/** From the private file to a keychain that this machine has by now. */
function MoveKeys() {
  const move = useChange('providers.credentials.move')
  return (
    <div className={styles.line}>
      <Button pending={move.isPending} onClick={() => move.mutate({ to: 'keychain' })}>
        {strings.providers.moveKeys}
      </Button>
      {move.error !== null && <ErrorNote error={move.error} />}
    </div>
  )
}
