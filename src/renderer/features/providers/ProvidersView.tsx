import { useState } from 'react'
import type { ConnectionView } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import { useCall, useChange, useIsFrail } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { navigate, useView } from '../../stores/navigation.ts'
import { Button, EmptyState, ErrorNote, View } from '../../ui/index.ts'
import { ConnectionDialog } from './ConnectionDialog.tsx'
import { ConnectionRow } from './ConnectionRow.tsx'
import { Fallbacks } from './Fallbacks.tsx'
import { useCatalog } from './useCatalog.ts'
import styles from './providers.module.css'

/** Every Provider of this machine: what it serves, whether it is ready, and its models. */
export function ProvidersView() {
  const catalog = useCatalog()
  const agents = useCall('agents.list', {})
  const view = useView()
  const wanted = view.kind === 'providers' && view.add === true
  const isFrail = useIsFrail('providers')
  const [chosen, setEditing] = useState<ConnectionView | 'new' | null>(null)
  const [notDefault, setNotDefault] = useState<AppError | null>(null)
  const editing = chosen ?? (wanted ? 'new' : null)
  const close = (): void => {
    setEditing(null)
    if (wanted) navigate({ kind: 'providers' })
  }
  const { providers } = strings
  const startNew = (): void => {
    setNotDefault(null)
    setEditing('new')
  }
  const add = (
    <Button tone="primary" disabled={catalog === null} onClick={startNew}>
      {providers.add}
    </Button>
  )
  const backend = catalog === null ? null : providers.backend(catalog.credentialBackend)
  return (
    <View
      title={providers.heading}
      about={providers.intro}
      action={catalog !== null && catalog.connections.length > 0 && add}
    >
      {isFrail && (
        <p className={styles.warning} role="status">
          {providers.notDurable}
        </p>
      )}
      {backend !== null && <p className={styles.warning}>{backend}</p>}
      {catalog?.credentialBackend === 'file' && <LookForKeychain />}
      {notDefault !== null && (
        <div className={styles.line}>
          <p className={styles.warning}>{providers.notDefault}</p>
          <ErrorNote error={notDefault} />
        </div>
      )}
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
          onNotDefault={setNotDefault}
          onClose={close}
        />
      )}
    </View>
  )
}

/** Moves the keys from the private file where this machine has a keychain by now; else they stay, and that is said. */
function LookForKeychain() {
  const move = useChange('providers.credentials.move')
  return (
    <div className={styles.line}>
      <Button pending={move.isPending} onClick={() => move.mutate({ to: 'keychain' })}>
        {strings.providers.lookForKeychain}
      </Button>
      <span className={styles.small}>{strings.providers.lookForKeychainText}</span>
      {move.error !== null && <ErrorNote error={move.error} />}
    </div>
  )
}
