import { useRef, useState } from 'react'
import type { CatalogView, ConnectionView, ModelView } from '../../../shared/bridge/index.ts'
import { useAsking, useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { hasWords, revealText } from '../../text/index.ts'
import { Button, ErrorNote, PassingButton, StateMark, Switch, TextField } from '../../ui/index.ts'
import { defaultOf, modelsOf } from './useCatalog.ts'
import styles from './providers.module.css'

const SHOWN_AT_ONCE = 100
/** From here on they are searched, and shown or hidden together. */
const MANY = 8

/** The models of one Provider: which of them agents are offered, and which is the default. */
export function Models({ catalog, connection }: { catalog: CatalogView; connection: ConnectionView }) {
  const [search, setSearch] = useState('')
  const [limit, setLimit] = useState(SHOWN_AT_ONCE)
  const support = useChange('providers.setModelSupport')
  const setDefault = useChange('providers.setDefault')
  const models = modelsOf(catalog, connection.id)
  const chosen = defaultOf(catalog, connection)
  const { providers } = strings
  const found = models.filter(({ id, displayName = '' }) => hasWords(`${id} ${displayName}`, search))

  const offer = (which: readonly ModelView[], enabled: boolean): void => {
    const others = models.filter((each) => each.enabled && !which.includes(each))
    support.mutate({ id: connection.id, enabledIds: [...others, ...(enabled ? which : [])].map(({ id }) => id) })
  }
  const makeDefault = (modelId: string | null): void => {
    setDefault.mutate({
      client: connection.client,
      connectionId: modelId === null ? null : connection.id,
      ...(modelId === null ? {} : { modelId }),
      expectedRevision: catalog.revision,
    })
  }

  return (
    <section className={styles.models} aria-label={providers.modelList(connection.name)}>
      <Discover connection={connection} />
      {models.length > MANY && (
        <>
          <TextField
            label={providers.modelSearch}
            labelHidden
            type="search"
            placeholder={providers.modelSearch}
            value={search}
            onChange={setSearch}
          />
          <div className={styles.line}>
            <Button disabled={found.every(({ enabled }) => enabled)} onClick={() => offer(found, true)}>
              {providers.offerFound(found.length)}
            </Button>
            <Button disabled={!found.some(({ enabled }) => enabled)} onClick={() => offer(found, false)}>
              {providers.hideFound(found.length)}
            </Button>
          </div>
        </>
      )}
      {support.error !== null && <ErrorNote error={support.error} />}
      {setDefault.error !== null && <ErrorNote error={setDefault.error} />}
      {found.length === 0 && (
        <p className={styles.small}>{models.length === 0 ? providers.noModels : providers.noMatch}</p>
      )}
      <ul className={styles.modelRows}>
        {found.slice(0, limit).map((model) => (
          <ModelRow
            key={model.id}
            model={model}
            isDefault={model.id === chosen}
            onOffer={(enabled) => offer([model], enabled)}
            onDefault={() => makeDefault(model.id === chosen ? null : model.id)}
          />
        ))}
      </ul>
      {found.length > limit && (
        <Button tone="quiet" onClick={() => setLimit(limit + SHOWN_AT_ONCE)}>
          {providers.moreModels(Math.min(SHOWN_AT_ONCE, found.length - limit))}
        </Button>
      )}
      {(models.length === 0 || (chosen !== null && !models.some(({ id }) => id === chosen))) && (
        <NameDefault chosen={chosen} pending={setDefault.isPending} onDefault={makeDefault} />
      )}
    </section>
  )
}

function ModelRow({
  model,
  isDefault,
  onOffer,
  onDefault,
}: {
  model: ModelView
  isDefault: boolean
  onOffer: (enabled: boolean) => void
  onDefault: () => void
}) {
  const { providers } = strings
  return (
    <li className={styles.modelRow}>
      <Switch
        label={model.id}
        checked={model.enabled}
        {...(model.displayName !== undefined && model.displayName !== model.id
          ? { description: revealText(model.displayName) }
          : {})}
        onChange={onOffer}
      />
      {!model.available && <span className={styles.small}>{providers.unavailable}</span>}
      <span className={styles.defaultCell}>
        {isDefault && <StateMark showLabel state="completed" label={providers.isDefault} />}
        <Button
          tone="quiet"
          aria-label={providers.named(isDefault ? providers.clearDefault : providers.makeDefault, model.id)}
          onClick={onDefault}
        >
          {isDefault ? providers.clearDefault : providers.makeDefault}
        </Button>
      </span>
    </li>
  )
}

function NameDefault({
  chosen,
  pending,
  onDefault,
}: {
  chosen: string | null
  pending: boolean
  onDefault: (modelId: string | null) => void
}) {
  const [id, setId] = useState(chosen ?? '')
  const { providers } = strings
  return (
    <form
      className={styles.nameDefault}
      onSubmit={(event) => {
        event.preventDefault()
        if (id.trim() !== '') onDefault(id.trim())
      }}
    >
      <TextField label={providers.modelId} mono value={id} onChange={setId} />
      <Button type="submit" pending={pending} disabled={id.trim() === ''}>
        {providers.makeDefault}
      </Button>
      {chosen !== null && (
        <Button tone="quiet" onClick={() => onDefault(null)}>
          {providers.clearDefault}
        </Button>
      )}
    </form>
  )
}

function Discover({ connection }: { connection: ConnectionView }) {
  const discover = useAsking('providers.discover')
  const asker = useRef<HTMLButtonElement>(null)
  const { providers } = strings
  return (
    <div className={styles.line}>
      <Button
        ref={asker}
        pending={discover.pending}
        aria-label={providers.named(providers.discover, connection.name)}
        onClick={() => void discover.ask({ id: connection.id })}
      >
        {providers.discover}
      </Button>
      <span role="status" className={styles.line}>
        {discover.pending && (
          <>
            {providers.discovering(discover.seconds)}
            <PassingButton heir={asker} onClick={discover.cancel}>
              {providers.cancel}
            </PassingButton>
          </>
        )}
        {discover.output !== null &&
          (discover.output.stale ? providers.discoveredStale : providers.discovered(discover.output.models.length))}
      </span>
      {discover.error !== null && (
        <ErrorNote error={discover.error} onRetry={() => void discover.ask({ id: connection.id })} />
      )}
    </div>
  )
}
