/** What moving all running sessions of a client to one connection would do to each: nothing is changed here. */
import { AppError } from '../../shared/errors.ts'
import type { CatalogState } from './catalog/state.ts'
import type { Routes } from './routes/routes.ts'
import type {
  ClientDefault,
  ClientId,
  ModelEntry,
  RuntimeChange,
  RuntimeChoice,
  RuntimeEffect,
  SwitchStep,
} from './types.ts'

export interface SwitchingDeps {
  state: CatalogState
  routes: Routes
  preview: (change: RuntimeChange) => RuntimeEffect
  /** The connection's models as a person sees them. */
  models: (connectionId: string) => readonly ModelEntry[]
}

export interface Switching {
  /** @throws AppError `model_profile_not_found`, `model_profile_unsupported`, `upstream_model_required`. */
  target(client: ClientId, connectionId: string): ClientDefault
  preview(client: ClientId, connectionId: string, allowHistoryStrip: boolean): readonly SwitchStep[]
}

export function createSwitching({ state, routes, preview, models }: SwitchingDeps): Switching {
  const offered = (connectionId: string): readonly string[] =>
    models(connectionId).flatMap((entry) => (entry.enabled && entry.available ? [entry.id] : []))

  function target(client: ClientId, connectionId: string): ClientDefault {
    const row = state.current().connections.find((candidate) => candidate.id === connectionId)
    if (row === undefined) {
      throw new AppError('model_profile_not_found', 'This Provider no longer exists. Pick another one.')
    }
    if (row.client !== client) {
      throw new AppError('model_profile_unsupported', 'This Provider belongs to another agent.', { detail: row.name })
    }
    const recorded = state.current().defaults[client]
    if (recorded?.connectionId === connectionId) return { connectionId, modelId: recorded.modelId }
    const known = offered(connectionId)
    const modelId = known.find((id) => id === recorded?.modelId) ?? known[0]
    if (modelId !== undefined) return { connectionId, modelId }
    throw new AppError('upstream_model_required', 'No model of this Provider is known. Refresh its models first.', {
      detail: row.name,
    })
  }

  /** The session's own model where the connection offers it, else the connection's default; its effort where it fits. */
  function stepOf(
    sessionId: string,
    from: RuntimeChoice,
    to: ClientDefault,
    of: Omit<RuntimeChange, 'sessionId' | 'choice'>,
  ): SwitchStep {
    const known = offered(to.connectionId)
    const keeps = from.modelId !== null && (known.length === 0 || known.includes(from.modelId))
    const modelId = keeps ? from.modelId : to.modelId
    const choice: RuntimeChoice = { connectionId: to.connectionId, modelId, effort: from.effort }
    const effect = preview({ ...of, sessionId, choice })
    if (effect.kind !== 'refused' || effect.code !== 'reasoning_effort_unsupported') {
      return { sessionId, from, to: choice, effect }
    }
    const plain: RuntimeChoice = { ...choice, effort: 'default' }
    return { sessionId, from, to: plain, effect: preview({ ...of, sessionId, choice: plain }) }
  }

  return {
    target,
    preview(client, connectionId, allowHistoryStrip) {
      const to = target(client, connectionId)
      const running = new Set(
        routes.all().flatMap((route) => (route.binding.client === client ? [route.sessionId] : [])),
      )
      return [...running].flatMap((sessionId) => {
        const from = routes.marks(sessionId)?.choice
        return from === undefined ? [] : [stepOf(sessionId, from, to, { client, allowHistoryStrip })]
      })
    },
  }
}
