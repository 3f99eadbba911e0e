import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { CatalogView, ConnectionView } from '../../../shared/bridge/index.ts'
import { isPlaintextAcrossNetwork } from '../../../shared/plaintext.ts'
import type { ClientId } from '../../../shared/vocabulary.ts'
import { useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Select, Switch, TextField } from '../../ui/index.ts'
import { clientsFor } from './form.ts'
import type { Agents } from './form.ts'
import { freeFields } from './useCatalog.ts'
import type { ConnectionFormState } from './useConnectionForm.ts'
import styles from './providers.module.css'

export interface ConnectionFieldsProps {
  catalog: CatalogView
  connection: ConnectionView | null
  client: ClientId | null
  agents: Agents
  form: ConnectionFormState
}

/** The fields that this kind of connection leaves to a person, and no others. */
export function ConnectionFields({ catalog, connection, client, agents, form }: ConnectionFieldsProps) {
  const { values, change, errorOf } = form
  const { providers } = strings
  const local = useCall('providers.local', {}, { enabled: connection === null })
  const queries = useQueryClient()
  // Such a program may be started at any time: the next look is a new one.
  useEffect(() => () => queries.removeQueries({ queryKey: ['providers.local'] }), [queries])
  const free = freeFields(catalog, values.preset, values.client)
  const presets = catalog.presets.filter((preset) => client === null || preset.clients.includes(client))
  const offered = clientsFor(catalog, values.preset, agents)
  // What was saved or asked for is shown, whether it is there or not.
  const clients = offered.includes(values.client) ? offered : [values.client, ...offered]

  const choosePreset = (preset: ConnectionView['preset']): void => {
    change('preset', preset)
    const fits = clientsFor(catalog, preset, agents)
    const [first] = fits
    if (first !== undefined && !fits.includes(values.client)) change('client', first)
  }

  return (
    <>
      <div className={styles.pair}>
        <Labelled label={providers.kind} error={errorOf('preset')}>
          <Select
            label={providers.kind}
            value={values.preset}
            items={presets.map(({ id, label }) => ({ value: id, label, ...noteFor(id, local.data?.found) }))}
            onChange={choosePreset}
          />
        </Labelled>
        <Labelled
          label={providers.agent}
          error={errorOf('client')}
          {...(connection === null ? {} : { description: providers.agentStays })}
        >
          <Select
            label={providers.agent}
            value={values.client}
            items={clients.map((id) => ({ value: id, label: strings.agents.name(id) }))}
            disabled={connection !== null || client !== null}
            onChange={(next) => change('client', next)}
          />
        </Labelled>
      </div>
      {values.preset === 'rehearsal' && <p className={styles.rehearsal}>{providers.rehearsal}</p>}
      <TextField
        label={providers.name}
        value={values.name}
        required
        error={errorOf('name')}
        onChange={(name) => change('name', name)}
      />
      {free.has('baseUrl') && (
        <TextField
          label={providers.address}
          type="url"
          mono
          value={values.baseUrl}
          description={
            isPlaintextAcrossNetwork(values.baseUrl) ? providers.warning('plaintext_transport') : providers.addressText
          }
          error={errorOf('baseUrl')}
          onChange={(baseUrl) => change('baseUrl', baseUrl)}
        />
      )}
      {(free.has('authMode') || free.has('protocol')) && (
        <div className={styles.pair}>
          {free.has('authMode') && (
            <Labelled label={providers.auth} error={errorOf('authMode')}>
              <Select
                label={providers.auth}
                value={values.authMode}
                items={(['bearer', 'x_api_key', 'none'] as const).map((value) => ({
                  value,
                  label: providers.authModes[value],
                }))}
                onChange={(authMode) => change('authMode', authMode)}
              />
            </Labelled>
          )}
          {free.has('protocol') && (
            <Labelled label={providers.protocol} error={errorOf('protocol')}>
              <Select
                label={providers.protocol}
                value={values.protocol}
                items={(['responses', 'anthropic_messages'] as const).map((value) => ({
                  value,
                  label: providers.protocols[value],
                }))}
                onChange={(protocol) => change('protocol', protocol)}
              />
            </Labelled>
          )}
        </div>
      )}
      {form.takesKey && (
        <TextField
          label={providers.key}
          type="password"
          mono
          inputRef={form.keyRef}
          description={
            connection?.credentialHint === undefined ? providers.keyStays : providers.keyKept(connection.credentialHint)
          }
          error={errorOf('key')}
          onChange={form.keyChanged}
        />
      )}
      {form.becomesDefault !== null && (
        <Switch
          label={providers.becomeDefault(strings.agents.name(values.client))}
          description={providers.becomeDefaultText}
          checked={form.becomesDefault}
          onChange={form.setBecomesDefault}
        />
      )}
      <MoreFields free={free} form={form} />
    </>
  )
}

/** Whether a kind that runs on this machine does; nothing while that is not known. */
function noteFor(id: ConnectionView['preset'], found: readonly string[] | undefined): { note?: string } {
  if (found === undefined || !LOCAL.has(id)) return {}
  return { note: found.includes(id) ? strings.providers.localFound : strings.providers.localMissing }
}

const LOCAL: ReadonlySet<string> = new Set<ConnectionView['preset']>(['ollama', 'lmstudio'])

function MoreFields({ free, form }: { free: ReadonlySet<string>; form: ConnectionFormState }) {
  const { values, change, errorOf, takesKey } = form
  const { providers } = strings
  const environment = takesKey && free.has('credentialEnv')
  const tunnel = free.has('tunnelWebSocket')
  if (!environment && !free.has('manualModelId') && !free.has('smallModelId') && !tunnel) return null
  const filled =
    values.manualModelId !== '' || values.smallModelId !== '' || values.credentialEnv !== '' || values.tunnelWebSocket
  const failed = [errorOf('manualModelId'), errorOf('smallModelId'), errorOf('credentialEnv')].some(
    (error) => error !== null,
  )
  return (
    <details className={styles.more} open={filled || failed}>
      <summary>{providers.advanced}</summary>
      {free.has('manualModelId') && (
        <TextField
          label={providers.manualModel}
          mono
          value={values.manualModelId}
          description={providers.manualModelText}
          error={errorOf('manualModelId')}
          onChange={(id) => change('manualModelId', id)}
        />
      )}
      {free.has('smallModelId') && (
        <TextField
          label={providers.smallModel}
          mono
          value={values.smallModelId}
          description={providers.smallModelText}
          error={errorOf('smallModelId')}
          onChange={(id) => change('smallModelId', id)}
        />
      )}
      {environment && (
        <TextField
          label={providers.environment}
          mono
          value={values.credentialEnv}
          description={providers.environmentText}
          error={errorOf('credentialEnv')}
          onChange={(name) => change('credentialEnv', name)}
        />
      )}
      {tunnel && (
        <Switch
          label={providers.tunnel}
          description={providers.tunnelText}
          checked={values.tunnelWebSocket}
          onChange={(on) => change('tunnelWebSocket', on)}
        />
      )}
    </details>
  )
}

function Labelled({
  label,
  description,
  error,
  children,
}: {
  label: string
  description?: string
  error: string | null
  children: React.ReactNode
}) {
  return (
    <div className={styles.labelled}>
      <span className={styles.label} aria-hidden="true">
        {label}
      </span>
      {children}
      {description !== undefined && <span className={styles.small}>{description}</span>}
      {error !== null && (
        <span className={styles.fieldError} role="alert">
          {error}
        </span>
      )}
    </div>
  )
}
