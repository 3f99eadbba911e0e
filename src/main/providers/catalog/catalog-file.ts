/** `catalog.json`: all connections and defaults under one revision. A file that cannot be trusted is never touched. */
import { z } from 'zod'
import { AppError } from '../../../shared/errors.ts'
import { ClientId } from '../../../shared/vocabulary.ts'
import type { DurableFile, PersistOutcome } from '../../platform/types.ts'
import { protocolOf } from '../presets.ts'
import type { Catalog, CredentialRef, ProviderConnection } from '../types.ts'
import { isModelId } from '../validation.ts'

const MAX_BYTES = 4 * 1024 * 1024
export const MAX_CONNECTIONS = 100
/** Of a failover rule. */
export const MAX_CHAIN = 4

export const PresetId = z.enum([
  'openai',
  'openrouter',
  'anthropic',
  'deepseek',
  'ollama',
  'lmstudio',
  'rehearsal',
  'custom',
])

const Ref = z.custom<CredentialRef>(
  (value) => typeof value === 'string' && /^provider:[A-Za-z0-9-]{1,64}:[A-Za-z0-9_-]{22}$/.test(value),
)
const ModelId = z.string().refine(isModelId)

const Row = z.strictObject({
  id: z.string().min(1).max(64),
  name: z.string().min(1).max(256),
  client: ClientId,
  preset: PresetId,
  baseUrl: z.string().max(2_048).optional(),
  manualModelId: ModelId.optional(),
  authMode: z.enum(['none', 'bearer', 'x_api_key']).optional(),
  protocol: z.enum(['responses', 'anthropic_messages']).optional(),
  credentialRef: Ref.optional(),
  credentialEnv: z.string().max(128).optional(),
  smallModelId: ModelId.optional(),
  tunnelWebSocket: z.boolean().optional(),
})

/** A row that leads nowhere would send its key to another address than its own. */
const Connection = Row.refine(
  (row) => protocolOf(row) !== null && (row.preset === 'custom') === (row.baseUrl !== undefined),
).refine(({ baseUrl }) => baseUrl === undefined || (URL.canParse(baseUrl) && /^https?:/i.test(baseUrl)))

const Link = z.strictObject({ connectionId: z.string().max(64), modelId: ModelId })
const Rule = z.strictObject({
  chain: z.array(Link).min(1).max(MAX_CHAIN),
  on429: z.boolean(),
  allowHistoryStrip: z.boolean(),
})
const Default = z.strictObject({ ...Link.shape, failover: Rule.optional() })

const CatalogShape = z.strictObject({
  schemaVersion: z.literal(1),
  revision: z.int().nonnegative(),
  connections: z.array(Connection).max(MAX_CONNECTIONS),
  defaults: z.strictObject({
    builtin: Default.optional(),
    codex: Default.optional(),
    claude: Default.optional(),
  }),
})

export interface CatalogFile {
  /** @throws AppError `model_profiles_unavailable`: malformed, newer, or not ours; the message names the file. */
  load(): Promise<Catalog>
  /** @throws AppError `file_failed`. */
  save(catalog: Catalog): Promise<PersistOutcome>
}

export function createCatalogFile(deps: { path: string; files: DurableFile }): CatalogFile {
  return {
    async load() {
      let bytes: Uint8Array | null
      try {
        bytes = await deps.files.read(deps.path, { maxBytes: MAX_BYTES })
      } catch (cause) {
        throw unusable(deps.path, cause)
      }
      if (bytes === null) return freeze({ schemaVersion: 1, revision: 0, connections: [], defaults: {} })
      return freeze(readCatalog(bytes, deps.path))
    },
    save: (catalog) => deps.files.write(deps.path, `${JSON.stringify(catalog, null, 2)}\n`),
  }
}

function readCatalog(bytes: Uint8Array, path: string): Catalog {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch (cause) {
    throw unusable(path, cause)
  }
  const parsed = CatalogShape.safeParse(value)
  if (!parsed.success) throw unusable(path, parsed.error)
  const { connections, defaults } = parsed.data
  if (new Set(connections.map((row) => row.id)).size !== connections.length) throw unusable(path, 'an id stands twice')
  return {
    ...parsed.data,
    connections: sorted(connections.map(withoutUndefined)),
    defaults: Object.fromEntries(
      Object.entries(withoutUndefined(defaults)).map(([client, entry]) => [client, withoutUndefined(entry)]),
    ),
  }
}

/** zod marks optional fields as possibly undefined; a parsed file has none that is. */
function withoutUndefined<T extends object>(row: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}

function unusable(path: string, cause: unknown): AppError {
  return new AppError(
    'model_profiles_unavailable',
    `The saved Providers cannot be read: ${path} is not in a form that this version knows. It was left as it is.`,
    { detail: path, cause, retryable: false },
  )
}

/** By name, case aside, then by id. */
export function sorted(connections: readonly ProviderConnection[]): readonly ProviderConnection[] {
  const key = (row: ProviderConnection): string => row.name.toLowerCase()
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
  return [...connections].sort((a, b) => compare(key(a), key(b)) || compare(a.id, b.id))
}

/** A snapshot that readers share: nobody can change it. */
export function freeze(catalog: Catalog): Catalog {
  for (const row of catalog.connections) Object.freeze(row)
  for (const entry of Object.values(catalog.defaults)) {
    for (const link of entry.failover?.chain ?? []) Object.freeze(link)
    if (entry.failover !== undefined) Object.freeze(Object.freeze(entry.failover).chain)
    Object.freeze(entry)
  }
  Object.freeze(catalog.connections)
  Object.freeze(catalog.defaults)
  return Object.freeze(catalog)
}
