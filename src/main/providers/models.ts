/** The models of a connection as a person sees them: what it was last seen to have, and what was typed in. */
import { claudeModel } from './contracts/claude-models.ts'
import type { CodexModel } from './contracts/codex-models.ts'
import { offeredEfforts } from './contracts/efforts.ts'
import type { DiscoveryCache } from './discovery/discovery.ts'
import { presetOf, protocolOf } from './presets.ts'
import type { Catalog, ModelEntry, ProviderConnection } from './types.ts'

export interface ModelSources {
  catalog: Catalog
  discovery: DiscoveryCache
  codexModels: ReadonlyMap<string, CodexModel>
}

/** The typed and the default one first, then those seen, in the Provider's order. */
export function modelsOf(connection: ProviderConnection, sources: ModelSources): readonly ModelEntry[] {
  const { catalog, discovery, codexModels } = sources
  const entries = new Map<string, ModelEntry>()
  const seen = discovery.seen(connection.id)
  const add = (id: string, source: ModelEntry['source'], available: boolean): void => {
    if (!entries.has(id)) entries.set(id, entryOf(connection, id, { source, available, sources }))
  }
  if (connection.manualModelId !== undefined) add(connection.manualModelId, 'manual', true)
  for (const id of presetOf(connection.preset).models ?? []) add(id, 'bundled', true)
  for (const id of seen.ids) add(id, discovery.source(connection.id), true)
  const recorded = catalog.defaults[connection.client]
  if (recorded?.connectionId === connection.id) add(recorded.modelId, 'manual', seen.seenAtMs === null)
  if (connection.client === 'codex' && connection.preset === 'openai' && seen.ids.length === 0) {
    for (const model of codexModels.values()) if (model.listed) add(model.slug, 'codex_cache', true)
  }
  return [...entries.values()]
}

/** What the bridge carries in one answer, roughly: of one list, and of all of them. */
const LIST_BYTES = 1_048_576
const ALL_BYTES = 2_621_440
/** Of an entry beside its names. */
const ENTRY_BYTES = 160

/** Each connection's models as far as they can be shown: where all are too long together, the longest are cut alike. */
export function shownModels(sources: ModelSources): ReadonlyMap<string, readonly ModelEntry[]> {
  const shown = new Map<string, readonly ModelEntry[]>()
  const lists = sources.catalog.connections.map((row) => ({ id: row.id, entries: modelsOf(row, sources) }))
  let left = ALL_BYTES
  let waiting = lists.length
  for (const { id, entries } of lists.toSorted((a, b) => a.entries.length - b.entries.length)) {
    const share = Math.min(LIST_BYTES, left / waiting--)
    const fitting = beginningOf(entries, share)
    left -= fitting.bytes
    shown.set(id, fitting.entries)
  }
  return shown
}

function beginningOf(entries: readonly ModelEntry[], most: number): { entries: readonly ModelEntry[]; bytes: number } {
  let bytes = 0
  for (const [index, { id, displayName = '' }] of entries.entries()) {
    const more = bytes + ENTRY_BYTES + id.length + 3 * displayName.length
    if (more > most) return { entries: entries.slice(0, index), bytes }
    bytes = more
  }
  return { entries, bytes }
}

function entryOf(
  connection: ProviderConnection,
  id: string,
  of: { source: ModelEntry['source']; available: boolean; sources: ModelSources },
): ModelEntry {
  const codex = connection.client === 'codex' ? of.sources.codexModels.get(id) : undefined
  const claude = connection.client === 'claude' ? claudeModel(id) : null
  const displayName = codex?.displayName ?? claude?.displayName
  const protocol = protocolOf(connection) ?? 'responses'
  return {
    id,
    ...(displayName === undefined ? {} : { displayName }),
    available: of.available,
    enabled: of.sources.discovery.isEnabled(connection.id, id),
    known: codex !== undefined || claude !== null,
    ...(codex?.effortDefault == null ? {} : { effortDefault: codex.effortDefault }),
    efforts: offeredEfforts(connection.client, protocol, codex?.efforts ?? null),
    source: of.source,
  }
}
