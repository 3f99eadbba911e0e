import { useState } from 'react'
import type { CatalogView } from '../../../shared/bridge/index.ts'
import { ClientId } from '../../../shared/vocabulary.ts'
import { strings } from '../../strings/index.ts'
import { Button } from '../../ui/index.ts'
import { FallbackDialog } from './FallbackDialog.tsx'
import styles from './providers.module.css'

/** For each agent with a default: who answers where that one does not. */
export function Fallbacks({ catalog }: { catalog: CatalogView }) {
  const [editing, setEditing] = useState<ClientId | null>(null)
  const clients = ClientId.options.filter((client) => catalog.defaults[client] !== undefined)
  const { providers } = strings
  if (clients.length === 0) return null
  return (
    <section className={styles.fallbacks} aria-labelledby="fallbacks-heading">
      <h2 id="fallbacks-heading">{providers.fallbacks}</h2>
      <p className={styles.small}>{providers.fallbacksText}</p>
      <ul className={styles.list} aria-label={providers.fallbacks}>
        {clients.map((client) => (
          <li key={client} className={styles.fallback}>
            <Rule catalog={catalog} client={client} />
            <Button
              aria-label={providers.named(providers.fallbacksEdit, strings.agents.name(client))}
              onClick={() => setEditing(client)}
            >
              {providers.edit}
            </Button>
          </li>
        ))}
      </ul>
      {editing !== null && catalog.defaults[editing] !== undefined && (
        <FallbackDialog catalog={catalog} client={editing} onClose={() => setEditing(null)} />
      )}
    </section>
  )
}

function Rule({ catalog, client }: { catalog: CatalogView; client: ClientId }) {
  const { providers } = strings
  const chosen = catalog.defaults[client]
  const name = (id: string | undefined): string =>
    catalog.connections.find((row) => row.id === id)?.name ?? providers.fallbackGone
  const chain = chosen?.failover?.chain ?? []
  return (
    <p className={styles.facts}>
      <strong className={styles.default}>{strings.agents.name(client)}</strong>
      <span>
        {name(chosen?.connectionId)}, {chosen?.modelId}
      </span>
      {chain.length === 0 && <span>{providers.fallbacksNone}</span>}
      {chain.map(({ connectionId, modelId }) => (
        <span key={`${connectionId} ${modelId}`}>{providers.fallbackThen(name(connectionId), modelId)}</span>
      ))}
    </p>
  )
}
