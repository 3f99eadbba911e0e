import type { CatalogView, ConnectionView, ModelView } from '../../../src/shared/bridge/index.ts'
import { numbered } from './decisions.ts'

export const WORK_ID = numbered(901)
export const REHEARSAL_ID = numbered(900)

export function aModel(id: string, change: Partial<ModelView> = {}): ModelView {
  return { id, available: true, enabled: true, known: true, source: 'discovered', ...change }
}

export function aConnection(change: Partial<ConnectionView> = {}): ConnectionView {
  return {
    id: WORK_ID,
    name: 'Work',
    preset: 'openai',
    client: 'codex',
    speaks: 'responses',
    credentialReady: true,
    credentialHint: '••••9fQ2',
    warnings: [],
    ...change,
  }
}

export const rehearsal = aConnection({
  id: REHEARSAL_ID,
  name: 'Rehearsal for Built-in agent',
  preset: 'rehearsal',
  client: 'builtin',
  credentialHint: undefined,
})

const preset = (
  id: CatalogView['presets'][number]['id'],
  label: string,
  clients: CatalogView['presets'][number]['clients'],
  fields: string[],
  needsKey = true,
): CatalogView['presets'][number] => ({ id, label, clients, needsKey, fields, advanced: id === 'custom' })

/** A catalog as the host tells it. */
export function aCatalog(change: Partial<CatalogView> = {}): CatalogView {
  return {
    revision: 3,
    connections: [],
    defaults: {},
    presets: [
      preset('openai', 'OpenAI', ['codex', 'builtin'], ['name', 'client', 'credentialEnv']),
      preset('ollama', 'Ollama on this machine', ['codex', 'claude', 'builtin'], ['name', 'client'], false),
      preset('lmstudio', 'LM Studio on this machine', ['codex', 'claude', 'builtin'], ['name', 'client'], false),
      preset('rehearsal', 'Rehearsal (no account)', ['codex', 'claude', 'builtin'], ['name', 'client'], false),
      preset('custom', 'Another address', ['codex', 'claude', 'builtin'], ['name', 'client', 'baseUrl', 'authMode']),
    ],
    models: {},
    credentialBackend: 'keychain',
    ...change,
  }
}
