/** The secret-free shapes. Each field is named here: nothing crosses the bridge by being forgotten. */
import { isPlaintextAcrossNetwork } from '../../shared/plaintext.ts'
import { accountOf } from './accounts.ts'
import type { Answers } from './answers.ts'
import type { Breakers } from './breaker/index.ts'
import type { Keys } from './credentials/keys.ts'
import { shownModels } from './models.ts'
import type { ModelSources } from './models.ts'
import { addressOf, authOf, PRESET_VIEWS, protocolOf } from './presets.ts'
import type { CatalogView, ConnectionView, ConnectionWarning, CredentialBackend, ProviderConnection } from './types.ts'

export interface Readiness {
  keys: Keys
  breakers: Pick<Breakers, 'view'>
  answers: Pick<Answers, 'refusal'>
  /** The host's own environment, read at each look. */
  environment: () => Readonly<Record<string, string | undefined>>
}

/** A stored key, or a variable that is set, or no authentication. */
export function isReady(
  connection: ProviderConnection,
  { keys, environment }: Pick<Readiness, 'keys' | 'environment'>,
): boolean {
  if (authOf(connection) === 'none') return true
  if (connection.credentialRef !== undefined && keys.has(connection.credentialRef)) return true
  return connection.credentialEnv !== undefined && (environment()[connection.credentialEnv] ?? '') !== ''
}

export function catalogView(
  sources: ModelSources,
  readiness: Readiness,
  credentialBackend: CredentialBackend,
): CatalogView {
  const { catalog } = sources
  return {
    revision: catalog.revision,
    connections: catalog.connections.map((row) => connectionView(row, readiness)),
    defaults: structuredClone(catalog.defaults),
    presets: PRESET_VIEWS,
    models: Object.fromEntries(shownModels(sources)),
    credentialBackend,
  }
}

function connectionView(row: ProviderConnection, readiness: Readiness): ConnectionView {
  const breaker = readiness.breakers.view(row.id)
  const refusal = readiness.answers.refusal(accountOf(row))
  const hint = row.credentialRef === undefined ? null : readiness.keys.hint(row.credentialRef)
  return {
    id: row.id,
    name: row.name,
    preset: row.preset,
    client: row.client,
    speaks: protocolOf(row) ?? 'responses',
    ...(row.baseUrl === undefined ? {} : { baseUrl: row.baseUrl }),
    ...(row.authMode === undefined ? {} : { authMode: row.authMode }),
    ...(row.protocol === undefined ? {} : { protocol: row.protocol }),
    ...(row.manualModelId === undefined ? {} : { manualModelId: row.manualModelId }),
    ...(row.smallModelId === undefined ? {} : { smallModelId: row.smallModelId }),
    ...(row.credentialEnv === undefined ? {} : { credentialEnv: row.credentialEnv }),
    ...(row.tunnelWebSocket === undefined ? {} : { tunnelWebSocket: row.tunnelWebSocket }),
    credentialReady: isReady(row, readiness),
    ...(hint === null ? {} : { credentialHint: hint }),
    ...(breaker === null ? {} : { breaker }),
    ...(refusal === null ? {} : { refusal: { code: refusal.code, message: refusal.message } }),
    warnings: warningsOf(row),
  }
}

function warningsOf(row: ProviderConnection): readonly ConnectionWarning[] {
  const address = addressOf(row)
  return address !== null && isPlaintextAcrossNetwork(address) ? ['plaintext_transport'] : []
}
