import type { CatalogView, ConnectionView, ModelView } from '../../../shared/bridge/index.ts'
import type { ClientId } from '../../../shared/vocabulary.ts'
import { useTopic } from '../../stores/app-stores.tsx'

/** The newest catalog; null until the host has told it once. */
export function useCatalog(): CatalogView | null {
  return useTopic('providers', (state) => state.value)
}

export function modelsOf(catalog: CatalogView, connectionId: string): readonly ModelView[] {
  return catalog.models[connectionId] ?? []
}

export function defaultOf(catalog: CatalogView, connection: ConnectionView): string | null {
  const chosen = catalog.defaults[connection.client]
  return chosen?.connectionId === connection.id ? chosen.modelId : null
}

/** The fields that this preset leaves free for this agent. */
export function freeFields(catalog: CatalogView, preset: ConnectionView['preset'], client: ClientId): Set<string> {
  const fields = new Set(catalog.presets.find(({ id }) => id === preset)?.fields ?? [])
  if (client !== 'claude') fields.delete('smallModelId')
  if (client !== 'builtin') fields.delete('protocol')
  if (client !== 'codex') fields.delete('tunnelWebSocket')
  return fields
}
