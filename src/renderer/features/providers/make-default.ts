import type { CatalogView, ProcedureOutput } from '../../../shared/bridge/index.ts'
import { AppError } from '../../../shared/errors.ts'
import type { ClientId } from '../../../shared/vocabulary.ts'
import type { Bridge } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'

/** Whether no real Provider is this agent's default: there is none, or the rehearsal stands in. */
export function lacksDefault(catalog: CatalogView, client: ClientId): boolean {
  const chosen = catalog.defaults[client]?.connectionId
  const connection = catalog.connections.find(({ id }) => id === chosen)
  return connection === undefined || connection.preset === 'rehearsal'
}

/**
 * Makes a new Provider its agent's default, with the model that was named for it or else the first that it offers.
 * @throws AppError of the question for its models; `upstream_model_required` where it offers none.
 */
export async function makeDefault(
  bridge: Bridge,
  { client, connectionId, named }: { client: ClientId; connectionId: string; named: string | undefined },
  asked: Promise<ProcedureOutput<'providers.discover'>>,
): Promise<void> {
  const modelId = named ?? (await asked).models.find(({ enabled, available }) => enabled && available)?.id
  // With a named model it does not matter whether the Provider has a list.
  asked.catch(() => undefined)
  if (modelId === undefined) throw new AppError('upstream_model_required', strings.providers.offersNone)
  const { revision } = await bridge.call('providers.list', {})
  await bridge.call('providers.setDefault', { client, connectionId, modelId, expectedRevision: revision })
}
