/** From a saved connection and a choice to what a route points at: the only place that decides it. */
import { AppError } from '../../../shared/errors.ts'
import { addressOf, presetOf, protocolOf } from '../presets.ts'
import type {
  Catalog,
  ClientId,
  Effort,
  ProviderConnection,
  Provenance,
  RouteProtocol,
  RuntimeChoice,
} from '../types.ts'
import { isModelId } from '../validation.ts'
import { claudeModel, withoutLongContext } from './claude-models.ts'
import type { CodexModel } from './codex-models.ts'
import { checkEffort, offeredEfforts } from './efforts.ts'
import { historyDomain } from './history-domain.ts'

export interface VerifiedContract {
  connection: ProviderConnection
  routeProtocol: RouteProtocol
  provenance: Provenance
  /** The slug the agent believes it runs; for Claude it may end in `[1m]`, which is the client's alone. */
  clientModel: string
  upstreamModel: string
  effort: Effort
  /** Null: unknown. */
  efforts: readonly Effort[] | null
  effortDefault: Effort | null
  upstreamBaseUrl: string | null
  historyDomain: string
}

/**
 * @throws AppError `model_profile_not_found`, `model_profile_unsupported` (the connection is another client's),
 * `upstream_model_required`, `model_unsupported`, `reasoning_effort_unsupported`.
 */
export function verifyChoice(
  catalog: Catalog,
  client: ClientId,
  choice: RuntimeChoice,
  codexModels: ReadonlyMap<string, CodexModel>,
): VerifiedContract {
  const connection = connectionOf(catalog, client, choice)
  const routeProtocol = protocolOf(connection)
  if (routeProtocol === null) {
    throw new AppError('model_profile_unsupported', 'This Provider does not speak the API of this agent.', {
      detail: connection.name,
    })
  }
  const clientModel = modelOf(catalog, client, connection, choice)
  const upstreamModel = client === 'claude' ? withoutLongContext(clientModel) : clientModel
  const known = client === 'codex' ? codexModels.get(clientModel) : undefined
  const efforts = known === undefined ? null : known.efforts
  checkEffort(choice.effort, offeredEfforts(client, routeProtocol, efforts), clientModel)
  const upstreamBaseUrl = addressOf(connection)
  return {
    connection,
    routeProtocol,
    provenance: provenanceOf(client, clientModel, known),
    clientModel,
    upstreamModel,
    effort: choice.effort,
    efforts,
    effortDefault: known?.effortDefault ?? null,
    upstreamBaseUrl,
    historyDomain: historyDomain({
      protocol: routeProtocol,
      preset: connection.preset,
      upstreamBaseUrl,
      upstreamModel,
      client,
    }),
  }
}

function provenanceOf(client: ClientId, model: string, known: CodexModel | undefined): Provenance {
  if (known !== undefined) return 'codex_catalog'
  return client === 'claude' && claudeModel(model) !== null ? 'builtin_catalog' : 'opaque_passthrough'
}

function connectionOf(catalog: Catalog, client: ClientId, choice: RuntimeChoice): ProviderConnection {
  const connection = catalog.connections.find((row) => row.id === choice.connectionId)
  if (connection === undefined) {
    throw new AppError('model_profile_not_found', 'This Provider no longer exists. Pick another one.', {
      detail: choice.connectionId ?? 'none',
    })
  }
  if (connection.client === client) return connection
  throw new AppError(
    'model_profile_unsupported',
    'This Provider belongs to another agent. Use it for this one too first.',
    {
      detail: connection.name,
    },
  )
}

/** Named, else the recorded one of this very connection, else the connection's own. Never invented. */
function modelOf(catalog: Catalog, client: ClientId, connection: ProviderConnection, choice: RuntimeChoice): string {
  const recorded = catalog.defaults[client]
  const model =
    choice.modelId ??
    (recorded?.connectionId === connection.id ? recorded.modelId : undefined) ??
    connection.manualModelId ??
    presetOf(connection.preset).models?.[0]
  if (model === undefined || model === '') {
    throw new AppError(
      'upstream_model_required',
      'No model of this Provider is chosen or known. Name one, or test the Provider and refresh its models.',
      {
        detail: connection.name,
      },
    )
  }
  if (isModelId(model)) return model
  throw new AppError('model_unsupported', 'This is not a model id that a Provider can be asked for.', { detail: model })
}
