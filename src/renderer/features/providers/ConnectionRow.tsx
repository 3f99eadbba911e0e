import { useRef, useState } from 'react'
import type { CatalogView, ConnectionView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, Menu, StateMark } from '../../ui/index.ts'
import { BreakerMark } from './BreakerMark.tsx'
import { ConfirmClear, ConfirmDelete } from './Confirmations.tsx'
import { Models } from './Models.tsx'
import { SwitchDialog } from './SwitchDialog.tsx'
import { TestLine } from './TestLine.tsx'
import { defaultOf, modelsOf } from './useCatalog.ts'
import { useAsking } from '../../bridge/index.ts'
import styles from './providers.module.css'

export interface ConnectionRowProps {
  catalog: CatalogView
  connection: ConnectionView
  onEdit: () => void
}

/** One Provider; its models open below it. */
export function ConnectionRow({ catalog, connection, onEdit }: ConnectionRowProps) {
  const [open, setOpen] = useState(false)
  const [asks, setAsks] = useState<'delete' | 'clear' | 'switch' | null>(null)
  const test = useAsking('providers.testSaved')
  const tester = useRef<HTMLButtonElement>(null)
  const { providers } = strings
  const { name } = connection
  return (
    <li className={styles.item}>
      <article aria-label={name} className={styles.row}>
        <div className={styles.what}>
          <h2 className={styles.name}>{name}</h2>
          <Facts catalog={catalog} connection={connection} />
        </div>
        <div className={styles.actions}>
          <Button
            ref={tester}
            pending={test.pending}
            aria-label={providers.named(providers.test, name)}
            onClick={() => void test.ask({ id: connection.id })}
          >
            {providers.test}
          </Button>
          <Button aria-label={providers.named(providers.edit, name)} onClick={onEdit}>
            {providers.edit}
          </Button>
          <Button
            aria-expanded={open}
            aria-label={providers.named(providers.showModels, name)}
            onClick={() => setOpen(!open)}
          >
            {providers.showModels} {open ? '▴' : '▾'}
          </Button>
          <Menu
            label={`${providers.more} ${name}`}
            trigger="⋯"
            actions={[
              { label: providers.switchSessions, onSelect: () => setAsks('switch') },
              ...(connection.credentialHint === undefined
                ? []
                : [{ label: providers.clearKey, onSelect: () => setAsks('clear') }]),
              { label: providers.remove, tone: 'danger' as const, onSelect: () => setAsks('delete') },
            ]}
          />
        </div>
        {connection.refusal !== undefined && test.error === null && (
          <p className={styles.warning}>{providers.lastAsked(connection.refusal.message)}</p>
        )}
        <TestLine asking={test} asker={tester} />
        {open && <Models catalog={catalog} connection={connection} />}
      </article>
      {asks === 'switch' && <SwitchDialog catalog={catalog} connection={connection} onClose={() => setAsks(null)} />}
      {asks === 'delete' && (
        <ConfirmDelete connection={connection} revision={catalog.revision} onClose={() => setAsks(null)} />
      )}
      {asks === 'clear' && (
        <ConfirmClear connection={connection} revision={catalog.revision} onClose={() => setAsks(null)} />
      )}
    </li>
  )
}

function Facts({ catalog, connection }: { catalog: CatalogView; connection: ConnectionView }) {
  const { providers } = strings
  const preset = catalog.presets.find(({ id }) => id === connection.preset)?.label ?? connection.preset
  const chosen = defaultOf(catalog, connection)
  const models = modelsOf(catalog, connection.id)
  const offered = models.filter(({ enabled }) => enabled).length
  const key = keyOf(connection)
  return (
    <>
      <p className={styles.facts}>
        <Readiness connection={connection} />
        {connection.breaker !== undefined && <BreakerMark breaker={connection.breaker} />}
        <span>{strings.agents.name(connection.client)}</span>
        {connection.preset !== 'rehearsal' && <span>{preset}</span>}
        {connection.baseUrl !== undefined && <code className={styles.address}>{connection.baseUrl}</code>}
        {key !== null && <span>{key}</span>}
        <span>{models.length === 0 ? providers.modelsUnknown : providers.modelsOffered(offered, models.length)}</span>
        {chosen !== null && (
          <strong className={styles.default}>
            {providers.defaultFor(strings.agents.name(connection.client), chosen)}
          </strong>
        )}
      </p>
      {connection.preset === 'rehearsal' && <p className={styles.rehearsal}>{providers.rehearsal}</p>}
      {connection.warnings.map((code) => (
        <p key={code} className={styles.warning}>
          {providers.warning(code)}
        </p>
      ))}
    </>
  )
}

function Readiness({ connection: { credentialReady, refusal } }: { connection: ConnectionView }) {
  const { providers } = strings
  if (!credentialReady) return <StateMark showLabel state="waiting" label={providers.needsKey} />
  if (refusal !== undefined) return <StateMark showLabel state="failed" label={providers.notAnswering} />
  return <StateMark showLabel state="completed" label={providers.ready} />
}

function keyOf({ credentialHint, credentialEnv, credentialReady }: ConnectionView): string | null {
  if (credentialHint !== undefined) return strings.providers.keyHint(credentialHint)
  if (credentialEnv !== undefined) return strings.providers.fromEnvironment(credentialEnv)
  return credentialReady ? strings.providers.noKey : null
}
