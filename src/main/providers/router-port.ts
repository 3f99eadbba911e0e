/** What the Router is told: bindings, keys, addresses, models, all as they are at request time. */
import { AppError } from '../../shared/errors.ts'
import type { Secret } from '../platform/types.ts'
import type { Breakers } from './breaker/index.ts'
import type { CatalogState } from './catalog/state.ts'
import { codexCatalog } from './contracts/codex-catalog.ts'
import type { CodexModel } from './contracts/codex-models.ts'
import type { Keys } from './credentials/keys.ts'
import type { DiscoveryCache } from './discovery/discovery.ts'
import type { Failovers } from './failover.ts'
import { modelsOf } from './models.ts'
import type { Exchange, RouteBinding, RouterPort } from './router/types.ts'
import type { Route } from './routes/binding.ts'
import type { Routes } from './routes/routes.ts'
import type { AuthMode, CredentialRef, ModelEntry } from './types.ts'

export interface RouterPortDeps {
  state: CatalogState
  routes: Routes
  keys: () => Keys
  discovery: DiscoveryCache
  codexModels: () => ReadonlyMap<string, CodexModel>
  /** The key in a variable of the host; null: not set. */
  environmentKey: (name: string) => Secret | null
  rehearsalOrigin: () => string | null
  ready: () => boolean
  failover: Failovers
  breakers: Breakers
  record: (exchange: Exchange) => void
}

export function createRouterPort(deps: RouterPortDeps): RouterPort {
  const { routes, state } = deps

  function routeBehind(binding: RouteBinding): Route {
    const route = routes.behind(binding) ?? deps.failover.behind(binding)
    if (route === null) throw new AppError('route_not_found', 'This route was released.')
    return route
  }

  function enabledModels(binding: RouteBinding): readonly ModelEntry[] {
    const connection = state.current().connections.find((row) => row.id === binding.connectionId)
    if (connection === undefined) return []
    const sources = { catalog: state.current(), discovery: deps.discovery, codexModels: deps.codexModels() }
    return modelsOf(connection, sources).filter((entry) => entry.enabled)
  }

  return {
    binding: (digest) => routes.routerBinding(digest),
    ready: deps.ready,
    async key(binding) {
      const { credentialRef, credentialEnv, authMode } = routeBehind(binding).binding
      return await readKey(deps, { credentialRef, credentialEnv, authMode })
    },
    upstreamBaseUrl: (binding) => resolveAddress(routeBehind(binding).binding.upstreamBaseUrl, deps.rehearsalOrigin),
    models(binding) {
      const others = enabledModels(binding).filter((entry) => entry.id !== binding.clientModel)
      return [
        { id: binding.clientModel, displayName: null },
        ...others.map((entry) => ({ id: entry.id, displayName: entry.displayName ?? null })),
      ]
    },
    codexCatalog: (binding) =>
      // OpenAI's own entries make Codex send a form that only OpenAI takes, and Codex has those itself.
      binding.preset === 'openai'
        ? null
        : codexCatalog([binding.clientModel, ...enabledModels(binding).map((entry) => entry.id)], deps.codexModels()),
    tunnelsWebSocket({ connectionId }) {
      const row = state.current().connections.find((candidate) => candidate.id === connectionId)
      return row?.preset === 'openai' && row.tunnelWebSocket === true
    },
    isEnabledModel: (binding, modelId) => {
      const connection = state.current().connections.find((row) => row.id === binding.connectionId)
      return connection !== undefined && deps.discovery.isEnabled(connection.id, modelId)
    },
    markOpaque: (digest, options) => routes.markOpaque(digest, options),
    failover: (binding) => deps.failover.of(binding),
    begin: (connectionId, guarded) => deps.breakers.begin(connectionId, guarded),
    waitMs: (connectionIds) => deps.breakers.waitMs(connectionIds),
    record: deps.record,
  }
}

/** The stored key, else the variable of the host. Null: there is none. */
export async function readKey(
  deps: Pick<RouterPortDeps, 'keys' | 'environmentKey'>,
  of: { credentialRef: CredentialRef | null; credentialEnv: string | null; authMode: AuthMode },
): Promise<Secret | null> {
  if (of.authMode === 'none') return null
  const stored = of.credentialRef === null ? null : await deps.keys().get(of.credentialRef)
  if (stored !== null) return stored
  return of.credentialEnv === null ? null : deps.environmentKey(of.credentialEnv)
}

/** @throws AppError `upstream_unreachable`: the rehearsal does not run. */
export function resolveAddress(address: string | null, rehearsalOrigin: () => string | null): string {
  const resolved = address ?? rehearsalOrigin()
  if (resolved !== null) return resolved
  throw new AppError(
    'upstream_unreachable',
    'The rehearsal is not running. Open Wheelhouse again, or pick another Provider.',
  )
}
