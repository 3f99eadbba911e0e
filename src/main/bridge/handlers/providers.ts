import { CatalogView } from '../../../shared/bridge/index.ts'
import type { providerProcedures } from '../../../shared/bridge/providers.ts'
import type { Secret } from '../../platform/index.ts'
import type { ProviderSwitch } from '../../executor/index.ts'
import { createSecret } from '../../platform/index.ts'
import type { Applied, CatalogView as Catalog, Providers } from '../../providers/index.ts'
import { compact } from '../compact.ts'
import type { HandlersOf } from '../types.ts'

/** The key's one moment outside of a `Secret` ends here. */
const toSecret = (key: string | undefined): Secret | null =>
  key === undefined || key === '' ? null : createSecret(key)

/** The providers' view in the contract's own shape: a field that the contract does not name stays behind. */
export const catalogView = (catalog: Catalog): CatalogView => CatalogView.parse(catalog)

const saved = ({ value, outcome }: Applied<Catalog>, connectionId: string | null) => ({
  catalog: catalogView(value),
  connectionId,
  durable: outcome.durable,
})

export interface ProviderHandlerDeps {
  providers: Providers
  providerSwitch: ProviderSwitch
}

export function providerHandlers({
  providers,
  providerSwitch,
}: ProviderHandlerDeps): HandlersOf<typeof providerProcedures> {
  return {
    'providers.list': async () => catalogView(await providers.catalog()),
    'providers.upsert': async ({ connection, key, expectedRevision }) => {
      const known = new Set((await providers.catalog()).connections.map((each) => each.id))
      const mode = connection.id === undefined ? 'create' : 'update'
      const applied = await providers.saveConnection(compact(connection), toSecret(key), expectedRevision, mode)
      const made = applied.value.connections.find((each) => !known.has(each.id) && each.name === connection.name.trim())
      return saved(applied, connection.id ?? made?.id ?? null)
    },
    'providers.delete': async ({ id, expectedRevision }) =>
      saved(await providers.deleteConnection(id, expectedRevision), null),
    'providers.setDefault': async ({ client, connectionId, modelId, expectedRevision }) => {
      const to = connectionId === null ? null : { connectionId, modelId }
      return saved(await providers.setDefault(client, to, expectedRevision), connectionId)
    },
    'providers.setFailover': async ({ client, rule, expectedRevision }) =>
      saved(await providers.setFailover(client, rule, expectedRevision), rule?.chain[0]?.connectionId ?? null),
    'providers.credential.clear': async ({ id, expectedRevision }) =>
      saved(await providers.clearCredential(id, expectedRevision), id),
    'providers.credentials.move': async ({ to }) => saved(await providers.moveCredentials(to), null),
    'providers.local': async (_input, { signal }) => ({ found: [...(await providers.findLocal(signal))] }),
    'providers.test': ({ connection, key }, { signal }) => {
      const { client, preset, id, baseUrl, authMode, protocol, credentialEnv } = connection
      return providers.testConnection(
        { client, preset, key: toSecret(key), ...compact({ id, baseUrl, authMode, protocol, credentialEnv }) },
        signal,
      )
    },
    'providers.testSaved': ({ id }, { signal }) => providers.testConnection({ savedId: id }, signal),
    'providers.discover': async ({ id, force }, { signal }) => {
      const { stale } = await providers.discover(id, { force }, signal)
      return { models: catalogView(await providers.catalog()).models[id] ?? [], stale }
    },
    'providers.setModelSupport': async ({ id, enabledIds }) =>
      saved(await providers.setEnabledModels(id, enabledIds), id),
    'usage.summary': async ({ by, days }) => ({ rows: [...(await providers.usage(by, days))] }),
    'providers.previewSwitch': ({ client, connectionId, allowHistoryStrip }) => {
      const { target, steps } = providerSwitch.preview(client, connectionId, { allowHistoryStrip })
      return { modelId: target.modelId, steps: [...steps] }
    },
    'providers.switch': async (request, { actor, signal }) => {
      const { steps, outcome } = await providerSwitch.run({ ...request, by: actor }, signal)
      return { catalog: catalogView(await providers.catalog()), steps: [...steps], durable: outcome.durable }
    },
  }
}
