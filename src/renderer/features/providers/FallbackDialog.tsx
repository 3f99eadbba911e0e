import { useRef, useState } from 'react'
import type { CatalogView, ConnectionView, FailoverRule } from '../../../shared/bridge/index.ts'
import type { ClientId } from '../../../shared/vocabulary.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, Dialog, ErrorNote, IconButton, Select, Switch, TextField } from '../../ui/index.ts'
import { mostModels } from './most-models.ts'
import { modelsOf } from './useCatalog.ts'
import styles from './providers.module.css'

type Link = FailoverRule['chain'][number]

const MOST = 4
const EMPTY: FailoverRule = { chain: [], on429: true, allowHistoryStrip: false }

interface FallbackDialogProps {
  catalog: CatalogView
  client: ClientId
  onClose: () => void
}

/** The rule of one agent: an order of Providers with a model each. */
export function FallbackDialog({ catalog, client, onClose }: FallbackDialogProps) {
  const chosen = catalog.defaults[client]
  const [rule, setRule] = useState<FailoverRule>(chosen?.failover ?? EMPTY)
  const change = useChange('providers.setFailover')
  const { providers } = strings
  const own = catalog.connections.find(({ id }) => id === chosen?.connectionId)
  // A request is handed on as it is: to those alone that speak its API.
  const offered = catalog.connections.filter((row) => row.client === client && row.speaks === own?.speaks)
  const { chain } = rule
  const links = useRef<HTMLOListElement>(null)
  const adder = useRef<HTMLButtonElement>(null)
  const setChain = (next: readonly Link[]): void => setRule({ ...rule, chain: [...next] })
  const remove = (index: number): void => {
    // The last place goes, and its button with it: the focus stays where the next one can be.
    const next = links.current?.children[Math.min(index, chain.length - 2)]
    const button = next?.querySelector<HTMLElement>(':scope > button:last-of-type') ?? adder.current
    button?.focus()
    setChain(chain.filter((_, at) => at !== index))
  }
  const save = (next: FailoverRule | null): void =>
    change.mutate({ client, rule: next, expectedRevision: catalog.revision }, { onSuccess: onClose })
  const complete = chain.length > 0 && chain.every(({ modelId }) => modelId.trim() !== '')
  const submit = (): void => {
    if (complete) save({ ...rule, chain: chain.map((link) => ({ ...link, modelId: link.modelId.trim() })) })
  }
  const add = (): void => {
    const used = new Set([...(chosen === undefined ? [] : [chosen]), ...chain].map(nameOf))
    const others = offered.toSorted(
      (one, other) => Number(one.id === chosen?.connectionId) - Number(other.id === chosen?.connectionId),
    )
    const free = others.flatMap(({ id }) => linksOf(catalog, id)).find((link) => !used.has(nameOf(link)))
    setChain([...chain, free ?? { connectionId: others[0]?.id ?? '', modelId: '' }])
  }
  return (
    <Dialog
      open
      size="wide"
      title={providers.fallbacksTitle(strings.agents.name(client))}
      description={providers.fallbacksWhen(own?.name ?? '')}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{providers.cancel}</Button>
          {chosen?.failover !== undefined && (
            <Button pending={change.isPending} onClick={() => save(null)}>
              {providers.fallbackOff}
            </Button>
          )}
          <Button tone="primary" pending={change.isPending} disabled={!complete} onClick={submit}>
            {providers.save}
          </Button>
        </>
      }
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <ol ref={links} className={styles.chain} aria-label={providers.fallbacks}>
          {chain.map((link, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- a place is what it is: two may name the same while edited
            <li key={index} className={styles.link}>
              <LinkFields
                catalog={catalog}
                offered={offered}
                link={link}
                place={index + 1}
                onChange={(next) => setChain(chain.with(index, next))}
              />
              <IconButton
                label={providers.fallbackUp(index + 1)}
                disabled={index === 0}
                onClick={() => setChain(moved(chain, index))}
              >
                ↑
              </IconButton>
              <IconButton label={providers.fallbackRemove(index + 1)} onClick={() => remove(index)}>
                ×
              </IconButton>
            </li>
          ))}
        </ol>
        <div>
          <Button ref={adder} disabled={chain.length >= MOST} onClick={add}>
            {providers.fallbackAdd}
          </Button>
        </div>
        <Switch
          label={providers.fallback429}
          description={providers.fallback429Note}
          checked={rule.on429}
          onChange={(on429) => setRule({ ...rule, on429 })}
        />
        <Switch
          label={providers.fallbackStrip}
          description={providers.fallbackStripNote}
          checked={rule.allowHistoryStrip}
          onChange={(allowHistoryStrip) => setRule({ ...rule, allowHistoryStrip })}
        />
        {change.error !== null && <ErrorNote error={change.error} />}
      </form>
    </Dialog>
  )
}

function LinkFields({
  catalog,
  offered,
  link,
  place,
  onChange,
}: {
  catalog: CatalogView
  offered: readonly ConnectionView[]
  link: Link
  place: number
  onChange: (next: Link) => void
}) {
  const { providers } = strings
  const { connectionId, modelId } = link
  const connections = catalog.connections.filter((row) => offered.includes(row) || row.id === connectionId)
  const known = modelsOf(catalog, connectionId).filter((model) => model.enabled || model.id === modelId)
  const models = known.some(({ id }) => id === modelId) ? known.map(({ id }) => id) : null
  return (
    <>
      <Select
        label={providers.fallbackProvider(place)}
        value={connectionId}
        items={connections.map(({ id, name }) => ({ value: id, label: name }))}
        onChange={(id) => onChange(linksOf(catalog, id)[0] ?? { connectionId: id, modelId: '' })}
      />
      {models === null ? (
        <TextField
          label={providers.fallbackModel(place)}
          labelHidden
          mono
          required
          placeholder={providers.modelId}
          value={modelId}
          onChange={(id) => onChange({ connectionId, modelId: id })}
        />
      ) : (
        <Select
          label={providers.fallbackModel(place)}
          value={modelId}
          items={mostModels(
            models.map((id) => ({ value: id, label: id })),
            modelId,
            () => null,
          )}
          onChange={(id) => onChange({ connectionId, modelId: id })}
        />
      )}
    </>
  )
}

/** What the connection can be asked for: the model that it names itself first, then those that are offered. */
function linksOf(catalog: CatalogView, connectionId: string): Link[] {
  const own = catalog.connections.find(({ id }) => id === connectionId)?.manualModelId
  const offered = modelsOf(catalog, connectionId).flatMap(({ id, enabled }) => (enabled ? [id] : []))
  return [...(own === undefined ? [] : [own]), ...offered].map((modelId) => ({ connectionId, modelId }))
}

function nameOf({ connectionId, modelId }: Link): string {
  return `${connectionId} ${modelId}`
}

function moved(chain: readonly Link[], index: number): readonly Link[] {
  const [link, before] = [chain[index], chain[index - 1]]
  return link === undefined || before === undefined ? chain : chain.with(index - 1, link).with(index, before)
}
