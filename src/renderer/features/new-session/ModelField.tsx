import type { CatalogView } from '../../../shared/bridge/index.ts'
import type { AgentId, ClientId, RuntimeChoice } from '../../../shared/vocabulary.ts'
import { strings } from '../../strings/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { Select } from '../../ui/index.ts'
import { useLedNote } from '../gateway/index.ts'
import { mostModels } from '../providers/index.ts'
import styles from './NewSession.module.css'

const DEFAULT = 'default'

interface Option {
  value: string
  label: string
  note?: string
  disabled?: boolean
  choice: RuntimeChoice | null
}

export interface ModelFieldProps {
  agentId: AgentId
  /** Null: what the host takes for this agent. */
  value: RuntimeChoice | null
  onChange: (choice: RuntimeChoice | null) => void
}

/** What an agent runs on from its first prompt. It can be changed at any time later. */
export function ModelField({ agentId, value, onChange }: ModelFieldProps) {
  const catalog = useTopic('providers', (state) => state.value)
  const led = useLedNote(agentId)
  const options = withPresent(optionsFor(agentId, catalog, led), value)
  const present = value === null ? DEFAULT : keyOf(value)
  return (
    <div className={styles.field}>
      <span className={styles.label} aria-hidden="true">
        {strings.newSession.model}
      </span>
      <Select
        label={strings.newSession.model}
        value={present}
        items={mostModels(options, present, ({ choice }) => choice?.connectionId ?? null)}
        onChange={(key) => onChange(options.find((option) => option.value === key)?.choice ?? null)}
      />
    </div>
  )
}

const keyOf = ({ connectionId, modelId }: RuntimeChoice): string => JSON.stringify([connectionId, modelId])

function optionsFor(agentId: AgentId, catalog: CatalogView | null, led: string | null): readonly Option[] {
  const client = clientOf(agentId)
  if (client === null || catalog === null)
    return [{ value: DEFAULT, label: strings.newSession.byDefault, choice: null }]
  const options: Option[] = [{ value: DEFAULT, label: defaultLabel(client, catalog), choice: null }]
  if (client !== 'builtin') {
    const choice: RuntimeChoice = { connectionId: null, modelId: null, effort: 'default' }
    const note = led === null ? {} : { note: led }
    options.push({ value: keyOf(choice), label: strings.newSession.ownLogin, choice, ...note })
  }
  for (const connection of catalog.connections) {
    if (connection.client !== client) continue
    for (const model of catalog.models[connection.id] ?? []) {
      if (!model.enabled || !model.available) continue
      const choice: RuntimeChoice = { connectionId: connection.id, modelId: model.id, effort: 'default' }
      options.push({
        value: keyOf(choice),
        label: `${connection.name} · ${model.displayName ?? model.id}`,
        choice,
        ...(connection.credentialReady ? {} : { note: strings.newSession.keyMissing, disabled: true }),
      })
    }
  }
  return options
}

/** What was chosen once stays among the options, whatever the catalog says now. */
function withPresent(options: readonly Option[], choice: RuntimeChoice | null): readonly Option[] {
  if (choice === null) return options
  const value = keyOf(choice)
  if (options.some((option) => option.value === value)) return options
  return [...options, { value, label: choice.modelId ?? strings.newSession.ownLogin, choice }]
}

function defaultLabel(client: ClientId, catalog: CatalogView): string {
  const chosen = catalog.defaults[client]
  const connection = catalog.connections.find(({ id }) => id === chosen?.connectionId)
  if (chosen === undefined || connection === undefined) return strings.newSession.byDefault
  return `${strings.newSession.byDefault} (${connection.name} · ${chosen.modelId})`
}

function clientOf(agentId: AgentId): ClientId | null {
  return agentId === 'builtin' || agentId === 'codex' || agentId === 'claude' ? agentId : null
}
