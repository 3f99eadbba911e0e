/** The parts of Providers, wired. Opened anew at each start; what cannot be loaded is said, never guessed. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../shared/errors.ts'
import { sweepTempFiles } from '../platform/index.ts'
import type { Clock, DurableFile, Failpoints, Ids, Log, Paths, SecretRegistry, Store } from '../platform/types.ts'
import { createAccounts } from './accounts.ts'
import { createAnswers } from './answers.ts'
import { createBreakers } from './breaker/index.ts'
import { createCatalogFile } from './catalog/catalog-file.ts'
import { createEdits } from './catalog/edits.ts'
import { openMachineGateway } from './gateway/index.ts'
import type { MachineGateway } from './gateway/index.ts'
import type { Inspector } from './inspector.ts'
import { createCatalogState } from './catalog/state.ts'
import { codexCatalog } from './contracts/codex-catalog.ts'
import type { VerifiedContract } from './contracts/contract.ts'
import { parseCodexModels, readCodexModels } from './contracts/codex-models.ts'
import type { CodexModel } from './contracts/codex-models.ts'
import { createClosedStore, openCredentialStore, openOtherStore } from './credentials/backend.ts'
import type { BackendDeps } from './credentials/backend.ts'
import { createEnvironmentKeys } from './credentials/environment-keys.ts'
import { createKeys } from './credentials/keys.ts'
import { moveKeys } from './credentials/migrate.ts'
import type { CredentialStore } from './credentials/types.ts'
import { createDiscoveryFile } from './discovery/discovery-file.ts'
import { createDiscoveryCache } from './discovery/discovery.ts'
import type { Exchanges } from './exchanges.ts'
import { createFailovers } from './failover.ts'
import { createCodexCatalogFiles } from './launch/codex-catalog-files.ts'
import { modelsOf } from './models.ts'
import { createRouterPort } from './router-port.ts'
import { createRouter } from './router/index.ts'
import type { Router } from './router/index.ts'
import { restoreNotices } from './routes/notices.ts'
import { createRoutes } from './routes/routes.ts'
import { createSessionRoutes } from './sessions.ts'
import { createSwitching } from './switching.ts'
import type { CredentialBackend, ProviderConnection, RouteNotice } from './types.ts'
import { createUpstream, proxyFor, systemProxy } from './upstream/index.ts'
import type { Upstream, UpstreamDeps } from './upstream/index.ts'
import { createUsage } from './usage/usage.ts'
import { isEnvName } from './validation.ts'
import { isReady } from './views.ts'

export interface ProvidersDeps {
  clock: Clock
  ids: Ids
  log: Log
  paths: Pick<Paths, 'providers'>
  secrets: SecretRegistry
  files: DurableFile
  store: Store
  failpoints: Failpoints
  /** The host's own environment, read at each look: keys in variables, `CODEX_HOME`. */
  environment: () => Readonly<Record<string, string | undefined>>
  /** Null while the rehearsal does not run. */
  rehearsalOrigin: () => string | null
  /** The setting `routes.bodyCapBytes`. */
  bodyCapBytes: () => number
  /** The machine gateway; without it, it listens nowhere by itself and leaves every config file alone. */
  gateway?: GatewayOptions
  /** The setting `requestInspector`; on by default. */
  inspectsRequests?: () => boolean
  /** The setting `upstreamProxy`. */
  upstreamProxy: () => string
  /** Opens the credential store; by default the recorded backend, or the first that works. */
  openStore?: () => Promise<CredentialStore>
  /** The libraries that reach this machine's keychain; those installed by default. */
  keychain?: NonNullable<BackendDeps['keychain']>
  /** What the installed Codex says of models by itself, as it prints it; null: nothing. */
  bundledCodexModels?: (signal: AbortSignal) => Promise<unknown>
  /** Name resolution; the system's by default. */
  resolve?: NonNullable<UpstreamDeps['resolve']>
}

export interface GatewayOptions {
  /** The setting `gatewayPort`. */
  port: () => number
  /** The setting `keepTakeoverOnQuit`. */
  keepTakeover: () => boolean
  /** This host lives long enough to take up takeovers again; a command's private host does not. */
  resume: boolean
  /** The person's home folder; the system's by default. */
  home?: string
  managedSettings?: string
  /** A quit could not give a config file back, or not record that it did. */
  onLeft?: ((error: unknown) => void) | undefined
}

const NO_GATEWAY: GatewayOptions = { port: () => 38_777, keepTakeover: () => true, resume: false }

export type System = Awaited<ReturnType<typeof openSystem>>

/** @throws AppError `model_profiles_unavailable`: the catalog cannot be trusted. */
export async function openSystem(
  deps: ProvidersDeps,
  on: {
    exchanges: Exchanges
    inspector: Inspector
    gatewayChanged: () => void
    healthChanged: () => void
    ready: () => boolean
  },
) {
  const { exchanges, inspector, ready } = on
  const { clock, ids, log, files, store, secrets, failpoints } = deps
  const at = (...parts: string[]): string => join(deps.paths.providers, ...parts)
  // A host that was killed while it wrote a key left it in a file that nothing names.
  for (const folder of [at(), at('secrets'), at('codex-catalogs')]) await sweepTempFiles(folder)
  const state = createCatalogState(createCatalogFile({ path: at('catalog.json'), files }))
  await state.load()
  const discovery = createDiscoveryCache({
    file: createDiscoveryFile({ path: at('discovery.json'), files, clock }),
    clock,
    log,
  })
  await discovery.load()

  const credentials = await openCredentials(deps, at('secrets'))
  let { backend } = credentials
  const keys = createKeys({ store: credentials.store, secrets, log })
  const environmentKey = createEnvironmentKeys(deps.environment, secrets)
  const upstream = openUpstream(deps)
  const codexCatalogs = createCodexCatalogFiles({ dir: at('codex-catalogs'), files, log })
  let codexModels: ReadonlyMap<string, CodexModel> = new Map()
  let bundled: readonly CodexModel[] = []

  // The Router reads routes, and routes cut the Router's requests: one of the two is reached through a box.
  const box: { router: Router | null } = { router: null }
  const routeKeys = new Map<string, Disposable>()
  const routes = createRoutes({
    store,
    clock,
    log,
    onReleased(digest) {
      box.router?.abortRoute(digest)
      routeKeys.get(digest)?.[Symbol.dispose]()
      routeKeys.delete(digest)
    },
  })
  const { malformed } = routes.load()
  const usage = createUsage({ store, clock, log })
  const breakers = createBreakers({ clock, log, onChange: on.healthChanged })
  const answers = createAnswers()
  const readiness = { keys, breakers, answers, environment: deps.environment }
  const connectionReady = (row: ProviderConnection): boolean => isReady(row, readiness)
  const failover = createFailovers({
    state,
    routes,
    codexModels: () => codexModels,
    isReady: connectionReady,
    isLeaving: (id) => edits.isLeaving(id),
  })
  const port = createRouterPort({
    state,
    routes,
    keys: () => keys,
    discovery,
    codexModels: () => codexModels,
    environmentKey,
    rehearsalOrigin: deps.rehearsalOrigin,
    ready,
    failover,
    breakers,
    record(exchange) {
      exchanges.record(exchange)
      inspector.record(exchange)
      usage.record(exchange)
    },
  })
  const router = createRouter({ clock, log, port, upstream, bodyCapBytes: deps.bodyCapBytes })
  box.router = router

  const ownPorts = (): ReadonlySet<number> => new Set([router.port(), gateway.port()].filter((port) => port !== null))
  const allowedEnv = allowedVariables(deps.environment())
  const options = deps.gateway ?? NO_GATEWAY
  const gateway: MachineGateway = await openMachineGateway({
    ...deps,
    dir: at(),
    home: options.home ?? homedir(),
    managedSettings: options.managedSettings,
    onLeft: options.onLeft,
    port: options.port,
    keys,
    state,
    upstream,
    environmentKey,
    ready,
    begin: (connectionId) => breakers.begin(connectionId, false),
    record(exchange) {
      inspector.record(exchange)
      usage.record(exchange)
    },
    onChange: on.gatewayChanged,
  })
  const gatewayUses = (id: string): readonly string[] => gateway.usesOf(id)
  const edits = createEdits({ state, keys, routes, ids, log, failpoints, allowedEnv, gatewayUses, ownPorts })
  const sessions = createSessionRoutes({
    state,
    routes,
    ids,
    codexModels: () => codexModels,
    isReady: connectionReady,
    isLeaving: (id) => edits.isLeaving(id),
    port: () => router.port(),
    flights: (digest) => router.flights(digest),
    onBound(digest, key, tx) {
      // An agent may print its own key: while the route is open, no log shows it.
      store.afterCommit(tx, () => void routeKeys.set(digest, secrets.add(key, 'route id')))
    },
    codexCatalogPath: (workerId) => codexCatalogs.pathFor(workerId),
  })

  const switching = createSwitching({
    state,
    routes,
    preview: (change) => sessions.previewRuntime(change),
    models(connectionId) {
      const row = state.current().connections.find((candidate) => candidate.id === connectionId)
      return row === undefined ? [] : modelsOf(row, { catalog: state.current(), discovery, codexModels })
    },
  })

  /** Of this start, and never of a change since: a route goes on as it was bound until its worker is bound anew. */
  let notices: readonly RouteNotice[] = []

  return {
    state,
    discovery,
    keys,
    backend: (): CredentialBackend => backend,
    readiness,
    breakers,
    answers,
    failover,
    environmentKey,
    upstream,
    codexCatalogs,
    routes,
    malformed,
    port,
    router,
    gateway,
    gatewayOptions: options,
    usage,
    edits,
    sessions,
    switching,
    accounts: createAccounts({
      state,
      upstream,
      clock,
      answers,
      allowedEnv,
      ownPorts,
      keys: () => keys,
      environmentKey,
      rehearsalOrigin: deps.rehearsalOrigin,
    }),
    catalogText(contract: VerifiedContract): string | null {
      const { connection, clientModel } = contract
      // OpenAI's own entries make Codex send a form that only OpenAI takes, and Codex has those itself.
      if (connection.preset === 'openai') return null
      const others = modelsOf(connection, { catalog: state.current(), discovery, codexModels })
      return codexCatalog([clientModel, ...others.flatMap((entry) => (entry.enabled ? [entry.id] : []))], codexModels)
    },
    modelSources: () => ({ catalog: state.current(), discovery, codexModels }),
    async refreshCodexModels(): Promise<void> {
      const home = deps.environment()['CODEX_HOME'] || join(homedir(), '.codex')
      const cached = await readCodexModels(home)
      codexModels = new Map([...bundled, ...cached].map((model) => [model.slug, model]))
    },
    /** Without its own words for a model, Codex is given none of ours: then the program itself is asked, once. */
    async askCodexForModels(signal: AbortSignal): Promise<void> {
      if (bundled.length > 0 || [...codexModels.values()].some((model) => model.baseInstructions !== null)) return
      bundled = parseCodexModels(await deps.bundledCodexModels?.(signal))
      codexModels = new Map([...bundled, ...codexModels.values()].map((model) => [model.slug, model]))
    },
    /** Moves every key to the other backend. @throws AppError `credential_store_unavailable`, `credential_store_failed`. */
    async moveKeys(to: 'keychain' | 'file'): Promise<void> {
      if (backend === to) return
      const { store: next, flip } = await openOtherStore({ ...deps, dir: at('secrets') }, to)
      await keys.move(async (from) => {
        await moveKeys(from, next, { flip, log })
        return next
      })
      backend = next.backend
    },
    /** Compares what was restored with what the catalog says today; changes nothing. */
    checkRestored(): void {
      notices = restoreNotices({ malformed, routes: routes.all(), catalog: state.current(), codexModels })
      for (const notice of notices) log.warn('a route of before is not what it would be made as today', { ...notice })
    },
    /** Those whose route, or whose row that cannot be read, is still there. */
    notices: (): readonly RouteNotice[] =>
      notices.filter(({ workerId, sessionId, reason }) =>
        reason === 'malformed' ? routes.isDisabled(sessionId) : workerId !== null && routes.ofWorker(workerId) !== null,
      ),
  }
}

/**
 * The machine gateway while Providers cannot be used. It serves nothing and refuses by `failure`; but an agent's config file
 * that leads to it is shown and taken back, which needs no catalog.
 */
export async function openGatewayAlone(
  deps: ProvidersDeps,
  on: { gatewayChanged: () => void },
  failure: AppError,
): Promise<Pick<System, 'gateway' | 'gatewayOptions'>> {
  const { files, secrets, log } = deps
  const gatewayOptions = deps.gateway ?? NO_GATEWAY
  const gateway = await openMachineGateway({
    ...deps,
    dir: deps.paths.providers,
    home: gatewayOptions.home ?? homedir(),
    managedSettings: gatewayOptions.managedSettings,
    onLeft: gatewayOptions.onLeft,
    port: gatewayOptions.port,
    keys: createKeys({ store: createClosedStore(failure), secrets, log }),
    // Never loaded: it is empty.
    state: createCatalogState(createCatalogFile({ path: join(deps.paths.providers, 'catalog.json'), files })),
    upstream: openUpstream(deps),
    environmentKey: () => null,
    ready: () => false,
    begin: () => null,
    record: () => undefined,
    onChange: on.gatewayChanged,
    failure,
  })
  return { gateway, gatewayOptions }
}

function openUpstream(deps: ProvidersDeps): Upstream {
  return createUpstream({
    ...(deps.resolve === undefined ? {} : { resolve: deps.resolve }),
    proxyFor: (url) => proxyFor(deps.upstreamProxy(), deps.environment(), url),
    hintFor: (url) =>
      deps.upstreamProxy() === 'none' && systemProxy(deps.environment(), url) !== null
        ? 'This machine names a proxy: to use it, choose it under Settings, Network.'
        : null,
  })
}

/** A store that cannot be opened leaves everything else working: no key is ready, and the view says `unavailable`. */
async function openCredentials(
  deps: ProvidersDeps,
  dir: string,
): Promise<{ store: CredentialStore; backend: CredentialBackend }> {
  try {
    const store = await (deps.openStore ?? (() => openCredentialStore({ ...deps, dir })))()
    return { store, backend: store.backend }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    deps.log.error('the stored keys cannot be used', { error })
    return { store: createClosedStore(error), backend: 'unavailable' }
  }
}

function allowedVariables(environment: Readonly<Record<string, string | undefined>>): ReadonlySet<string> {
  const names = (environment['WHEELHOUSE_CREDENTIAL_ENV'] ?? '').split(',').map((name) => name.trim())
  return new Set(names.filter(isEnvName))
}
