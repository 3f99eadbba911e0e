import type { AgentView, CatalogView, ConnectionView, ProcedureInput } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import type { ClientId } from '../../../shared/vocabulary.ts'
import { freeFields } from './useCatalog.ts'

type ConnectionInput = ProcedureInput<'providers.upsert'>['connection']

/** What the form holds. The key is no part of it: it stands in its field alone. */
export interface ConnectionForm {
  preset: ConnectionView['preset']
  client: ClientId
  name: string
  baseUrl: string
  authMode: 'none' | 'bearer' | 'x_api_key'
  protocol: 'responses' | 'anthropic_messages'
  manualModelId: string
  smallModelId: string
  credentialEnv: string
  tunnelWebSocket: boolean
}

export type FormField = keyof ConnectionForm | 'key'

/** The agents of this machine; null: not known yet. */
export type Agents = readonly AgentView[] | null

/** The agents that a preset can serve here, those that are ready first. */
export function clientsFor(catalog: CatalogView, preset: ConnectionView['preset'], agents: Agents): ClientId[] {
  const clients = catalog.presets.find(({ id }) => id === preset)?.clients ?? []
  if (agents === null) return [...clients]
  const here = (isReady: boolean) =>
    clients.filter((client) => agents.some(({ id, available }) => id === client && available === isReady))
  return [...here(true), ...here(false)]
}

export function emptyForm(catalog: CatalogView, client: ClientId | null, agents: Agents): ConnectionForm {
  const fits = catalog.presets.filter((preset) => client === null || preset.clients.includes(client))
  const preset = fits.find(({ needsKey }) => needsKey) ?? fits[0]
  const id = preset?.id ?? 'custom'
  return {
    preset: id,
    client: client ?? clientsFor(catalog, id, agents)[0] ?? 'builtin',
    name: '',
    baseUrl: '',
    authMode: 'bearer',
    protocol: 'responses',
    manualModelId: '',
    smallModelId: '',
    credentialEnv: '',
    tunnelWebSocket: false,
  }
}

export function formOf(connection: ConnectionView): ConnectionForm {
  return {
    preset: connection.preset,
    client: connection.client,
    name: connection.name,
    baseUrl: connection.baseUrl ?? '',
    authMode: connection.authMode ?? 'bearer',
    protocol: connection.protocol ?? 'responses',
    manualModelId: connection.manualModelId ?? '',
    smallModelId: connection.smallModelId ?? '',
    credentialEnv: connection.credentialEnv ?? '',
    tunnelWebSocket: connection.tunnelWebSocket ?? false,
  }
}

/** What the host is sent: only the fields that this preset leaves free, and no empty ones. */
export function inputOf(catalog: CatalogView, form: ConnectionForm, id: string | null): ConnectionInput {
  const free = freeFields(catalog, form.preset, form.client)
  const text = (field: 'baseUrl' | 'manualModelId' | 'smallModelId' | 'credentialEnv') => {
    const value = form[field].trim()
    return free.has(field) && value !== '' ? { [field]: value } : {}
  }
  return {
    ...(id === null ? {} : { id }),
    name: form.name.trim(),
    client: form.client,
    preset: form.preset,
    ...text('baseUrl'),
    ...(free.has('authMode') ? { authMode: form.authMode } : {}),
    ...(free.has('protocol') ? { protocol: form.protocol } : {}),
    ...text('manualModelId'),
    ...text('smallModelId'),
    ...(takesKey(catalog, form) ? text('credentialEnv') : {}),
    ...(free.has('tunnelWebSocket') && form.tunnelWebSocket ? { tunnelWebSocket: true } : {}),
  }
}

export function takesKey(catalog: CatalogView, form: ConnectionForm): boolean {
  if (form.preset === 'custom') return form.authMode !== 'none'
  return catalog.presets.find(({ id }) => id === form.preset)?.needsKey ?? true
}

const FIELDS: ReadonlySet<string> = new Set<FormField>([
  'preset',
  'client',
  'name',
  'baseUrl',
  'authMode',
  'protocol',
  'manualModelId',
  'smallModelId',
  'credentialEnv',
  'tunnelWebSocket',
  'key',
])

/** The field that an error is about, by its code; null: it is about the whole form. */
export function fieldOf(error: AppError): FormField | null {
  const named = typeof error.data === 'object' && error.data !== null && 'field' in error.data ? error.data.field : null
  if (typeof named === 'string' && FIELDS.has(named)) return named as FormField
  switch (error.code) {
    case 'model_profile_invalid':
    case 'upstream_address_blocked':
      return 'baseUrl'
    case 'model_profile_credential_not_ready':
    case 'credential_store_failed':
    case 'credential_store_unavailable':
      return 'key'
    case 'model_profile_conflict':
      return revisionOf(error) === null ? 'name' : null
    default:
      return null
  }
}

/** The revision that was meanwhile reached, where a save came after somebody else's; else null. */
export function revisionOf(error: AppError): number | null {
  if (error.code !== 'model_profile_conflict') return null
  const { data } = error
  return typeof data === 'object' && data !== null && 'revision' in data && typeof data.revision === 'number'
    ? data.revision
    : null
}
