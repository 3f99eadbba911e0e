/** What a restart finds in its routes that differs from today: advice for people, never a dropped or rewritten route. */
import { AppError } from '../../../shared/errors.ts'
import type { CodexModel } from '../contracts/codex-models.ts'
import { verifyChoice } from '../contracts/contract.ts'
import type { Catalog, RouteNotice } from '../types.ts'
import type { Route } from './binding.ts'
import type { MalformedRow } from './tables.ts'

export function restoreNotices(of: {
  malformed: readonly MalformedRow[]
  routes: readonly Route[]
  catalog: Catalog
  codexModels: ReadonlyMap<string, CodexModel>
}): readonly RouteNotice[] {
  const { catalog, codexModels } = of
  const reasonFor = (route: Route): RouteNotice['reason'] | null => {
    if (!catalog.connections.some((row) => row.id === route.connectionId)) return 'connection_gone'
    return isAsBound(route, catalog, codexModels) ? null : 'contract_changed'
  }
  return [
    ...of.malformed.map(({ workerId, sessionId }): RouteNotice => ({ workerId, sessionId, reason: 'malformed' })),
    ...of.routes.flatMap((route): RouteNotice[] => {
      const reason = reasonFor(route)
      return reason === null ? [] : [{ workerId: route.workerId, sessionId: route.sessionId, reason }]
    }),
  ]
}

function isAsBound(route: Route, catalog: Catalog, codexModels: ReadonlyMap<string, CodexModel>): boolean {
  const { binding, connectionId } = route
  try {
    // The upstream's name: a moved route keeps the client's.
    const modelId = binding.client === 'claude' ? binding.upstreamModel : binding.clientModel
    const choice = { connectionId, modelId, effort: binding.effort }
    const today = verifyChoice(catalog, binding.client, choice, codexModels)
    if (today.historyDomain !== binding.historyDomain || today.upstreamBaseUrl !== binding.upstreamBaseUrl) return false
    // Without its cache Codex is asked for its models at the first start of one: until then nothing is known to differ.
    if (binding.client === 'codex' && codexModels.size === 0) return true
    // Of a model that stands behind another's name nothing was claimed.
    if (binding.provenance !== 'configured_compatibility' && today.provenance !== binding.provenance) return false
    return (
      today.effortDefault === binding.effortDefault && JSON.stringify(today.efforts) === JSON.stringify(binding.efforts)
    )
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}
