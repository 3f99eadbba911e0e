/** Curated templates: a preset owns address, protocol and auth style, so that a person gives a name and a key only. */
import { AppError } from '../../shared/errors.ts'
import type { AuthMode, ClientId, ConnectionInput, PresetId, PresetView, RouteProtocol } from './types.ts'

interface Preset {
  id: PresetId
  label: string
  clients: readonly ClientId[]
  /** By protocol. `null`: the person's own, or resolved at request time. */
  addresses: Readonly<Partial<Record<RouteProtocol, string | null>>>
  auth: AuthMode
  advanced: boolean
  fields: readonly (keyof ConnectionInput)[]
  /** What it is known to offer without being asked. */
  models?: readonly string[]
}

const COMMON = ['name', 'client'] as const satisfies (keyof ConnectionInput)[]

export const PRESETS: readonly Preset[] = [
  {
    id: 'openai',
    label: 'OpenAI',
    clients: ['codex', 'builtin'],
    addresses: { responses: 'https://api.openai.com/v1' },
    auth: 'bearer',
    advanced: false,
    fields: [...COMMON, 'credentialEnv', 'tunnelWebSocket'],
  },
  {
    id: 'anthropic',
    label: 'Anthropic',
    clients: ['claude', 'builtin'],
    addresses: { anthropic_messages: 'https://api.anthropic.com' },
    auth: 'x_api_key',
    advanced: false,
    fields: [...COMMON, 'credentialEnv', 'smallModelId'],
  },
  {
    id: 'openrouter',
    label: 'OpenRouter',
    clients: ['codex', 'claude', 'builtin'],
    addresses: { responses: 'https://openrouter.ai/api/v1', anthropic_messages: 'https://openrouter.ai/api' },
    auth: 'bearer',
    advanced: false,
    fields: [...COMMON, 'credentialEnv', 'smallModelId', 'protocol'],
  },
  {
    id: 'deepseek',
    label: 'DeepSeek',
    clients: ['codex', 'claude', 'builtin'],
    addresses: { responses: 'https://api.deepseek.com', anthropic_messages: 'https://api.deepseek.com/anthropic' },
    auth: 'bearer',
    advanced: false,
    fields: [...COMMON, 'credentialEnv', 'smallModelId', 'protocol'],
  },
  {
    id: 'ollama',
    label: 'Ollama on this machine',
    clients: ['codex', 'claude', 'builtin'],
    addresses: { responses: 'http://127.0.0.1:11434/v1', anthropic_messages: 'http://127.0.0.1:11434' },
    auth: 'none',
    advanced: false,
    fields: [...COMMON, 'smallModelId', 'protocol'],
  },
  {
    id: 'lmstudio',
    label: 'LM Studio on this machine',
    clients: ['codex', 'claude', 'builtin'],
    addresses: { responses: 'http://127.0.0.1:1234/v1', anthropic_messages: 'http://127.0.0.1:1234' },
    auth: 'none',
    advanced: false,
    fields: [...COMMON, 'smallModelId', 'protocol'],
  },
  {
    id: 'rehearsal',
    label: 'Rehearsal (no account)',
    clients: ['codex', 'claude', 'builtin'],
    addresses: { responses: null, anthropic_messages: null },
    auth: 'none',
    advanced: false,
    fields: [...COMMON, 'protocol'],
    models: ['rehearsal-1'],
  },
  {
    id: 'custom',
    label: 'Another address',
    clients: ['codex', 'claude', 'builtin'],
    addresses: { responses: null, anthropic_messages: null },
    auth: 'bearer',
    advanced: true,
    fields: [...COMMON, 'baseUrl', 'manualModelId', 'authMode', 'credentialEnv', 'smallModelId', 'protocol'],
  },
]

export function presetOf(id: PresetId): Preset {
  const preset = PRESETS.find((candidate) => candidate.id === id)
  if (preset === undefined) throw new AppError('model_profile_unsupported', `There is no preset "${id}".`)
  return preset
}

/** The fields of a preset that this client has. */
export function fieldsFor(preset: Preset, client: ClientId): readonly (keyof ConnectionInput)[] {
  const only: Partial<Record<keyof ConnectionInput, ClientId>> = {
    smallModelId: 'claude',
    protocol: 'builtin',
    tunnelWebSocket: 'codex',
  }
  return preset.fields.filter((field) => (only[field] ?? client) === client)
}

/** Which API a connection is spoken to in; null where the preset does not speak the client's. */
export function protocolOf(connection: {
  client: ClientId
  preset: PresetId
  protocol?: RouteProtocol | undefined
}): RouteProtocol | null {
  const { addresses } = presetOf(connection.preset)
  const wanted = wantedProtocol(connection)
  if (wanted !== null) return Object.hasOwn(addresses, wanted) ? wanted : null
  if (Object.hasOwn(addresses, 'responses')) return 'responses'
  return Object.hasOwn(addresses, 'anthropic_messages') ? 'anthropic_messages' : null
}

function wantedProtocol(connection: { client: ClientId; protocol?: RouteProtocol | undefined }): RouteProtocol | null {
  if (connection.client === 'codex') return 'responses'
  if (connection.client === 'claude') return 'anthropic_messages'
  return connection.protocol ?? null
}

/** Null: preset `rehearsal`, whose address is asked for at each request. */
export function addressOf(connection: {
  client: ClientId
  preset: PresetId
  baseUrl?: string | undefined
  protocol?: RouteProtocol | undefined
}): string | null {
  if (connection.preset === 'custom') return connection.baseUrl ?? null
  const protocol = protocolOf(connection)
  return protocol === null ? null : (presetOf(connection.preset).addresses[protocol] ?? null)
}

export function authOf(connection: { preset: PresetId; authMode?: AuthMode | undefined }): AuthMode {
  return connection.preset === 'custom' ? (connection.authMode ?? 'bearer') : presetOf(connection.preset).auth
}

export const PRESET_VIEWS: readonly PresetView[] = PRESETS.map((preset) => ({
  id: preset.id,
  label: preset.label,
  clients: preset.clients,
  advanced: preset.advanced,
  needsKey: preset.auth !== 'none',
  fields: preset.fields,
}))
