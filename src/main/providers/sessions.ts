/** What a session's workers are pointed at: binding a worker, and moving what runs. Everything in the caller's commit. */
import { AppError } from '../../shared/errors.ts'
import type { Ids, Secret, Tx } from '../platform/types.ts'
import { createSecret } from '../platform/index.ts'
import type { CatalogState } from './catalog/state.ts'
import type { CodexModel } from './contracts/codex-models.ts'
import { canAnswerFor, withoutLongContext } from './contracts/claude-models.ts'
import { verifyChoice } from './contracts/contract.ts'
import type { VerifiedContract } from './contracts/contract.ts'
import { offeredEfforts } from './contracts/efforts.ts'
import { ownLoginDomain } from './contracts/history-domain.ts'
import { launchPlan } from './launch/plans.ts'
import { routeDigest } from './router/index.ts'
import { bindingOf } from './routes/binding.ts'
import type { BindingJson, Route } from './routes/binding.ts'
import type { Routes } from './routes/routes.ts'
import type {
  ClientId,
  LaunchRequest,
  ProviderConnection,
  RoutePlan,
  RuntimeChange,
  RuntimeChoice,
  RuntimeEffect,
  SessionRuntimeView,
} from './types.ts'

export interface SessionDeps {
  state: CatalogState
  routes: Routes
  ids: Ids
  codexModels: () => ReadonlyMap<string, CodexModel>
  isReady: (connection: ProviderConnection) => boolean
  /** The connection is being deleted right now. */
  isLeaving: (connectionId: string) => boolean
  /** Null: not listening. */
  port: () => number | null
  /** Requests under way at the session's routes. */
  flights: (digest: string) => number
  /** A route is bound in this transaction; `key` is its id. */
  onBound: (digest: string, key: Secret, tx: Tx) => void
  /** Null: none was written for this worker. */
  codexCatalogPath: (workerId: string) => string | null
}

export interface SessionRoutes {
  bindWorker(request: LaunchRequest, tx: Tx): RoutePlan | null
  previewRuntime(change: RuntimeChange): RuntimeEffect
  changeRuntime(change: RuntimeChange, tx: Tx): RuntimeEffect
  sessionRuntime(sessionId: string): SessionRuntimeView | null
  /** The contract of a choice, its key at hand. Errors as `bindWorker`. */
  verify(client: ClientId, choice: RuntimeChoice): VerifiedContract
}

interface History {
  /** Items that the target cannot read stand in the history, and must be cut. */
  strips: boolean
  portability: 'keep' | 'strip'
  opaque: boolean
}

export function createSessionRoutes(deps: SessionDeps): SessionRoutes {
  const { state, routes, ids } = deps

  function verify(client: ClientId, choice: RuntimeChoice): VerifiedContract {
    const contract = verifyChoice(state.current(), client, choice, deps.codexModels())
    if (deps.isLeaving(contract.connection.id)) {
      throw new AppError('model_profile_not_found', 'This Provider is being deleted. Pick another one.')
    }
    if (deps.isReady(contract.connection)) return contract
    throw new AppError('model_profile_credential_not_ready', 'This Provider has no key. Add it under Providers.', {
      detail: contract.connection.name,
    })
  }

  /** Whether the session's history can go on in that domain. @throws AppError `route_binding_incompatible`. */
  function historyFor(sessionId: string, domain: string, allowStrip: boolean): History {
    const marks = routes.marks(sessionId)
    const portability = marks?.portability ?? 'keep'
    const opaque = marks?.opaque ?? false
    if (!opaque || marks?.domain === domain || portability === 'strip') return { strips: false, portability, opaque }
    if (allowStrip) return { strips: true, portability: 'strip', opaque }
    throw new AppError(
      'route_binding_incompatible',
      'This session holds reasoning that only its present Provider and model can read. Allow it to be cut, or stay.',
      { detail: sessionId },
    )
  }

  /** A history with opaque items can leave for the agent's own login only as it is: no Router could cut them there. */
  function checkOwnLogin(sessionId: string, client: ClientId): void {
    if (client === 'builtin') {
      throw new AppError('model_profile_not_found', 'The built-in agent needs a Provider. Pick one.')
    }
    const marks = routes.marks(sessionId)
    if (marks === null || !marks.opaque || marks.domain === ownLoginDomain(client)) return
    throw new AppError(
      'route_binding_incompatible',
      "This session holds reasoning that the agent's own login cannot read. Start a new session for that.",
      { detail: sessionId },
    )
  }

  const bound = ({ portability }: History) => ({
    catalogRevision: state.current().revision,
    historyPortability: portability,
  })

  function demandEnabled(sessionId: string): void {
    if (!routes.isDisabled(sessionId)) return
    throw new AppError(
      'route_snapshot_invalid',
      "What is stored of this session's route cannot be read, so it does not run. Start a new session.",
      { detail: sessionId },
    )
  }

  function bindWorker(request: LaunchRequest, tx: Tx): RoutePlan | null {
    const { sessionId, client, choice, workerId } = request
    demandEnabled(sessionId)
    if (choice.connectionId === null) {
      checkOwnLogin(sessionId, client)
      const portability = routes.marks(sessionId)?.portability ?? 'keep'
      const domain = ownLoginDomain(client)
      routes.noteOwnLogin({ sessionId, client, choice, domain, portability, opaque: true }, tx)
      return null
    }
    const contract = verify(client, choice)
    const history = historyFor(sessionId, contract.historyDomain, false)
    const port = deps.port()
    if (port === null) throw new AppError('route_listener_failed', 'The Router does not listen yet. Try again.')
    const routeId = Buffer.from(ids.bytes(32)).toString('base64url')
    const key = createSecret(routeId)
    const digest = routeDigest(routeId)
    const binding = bindingOf(contract, bound(history))
    // The plan comes first: a form that cannot be started writes nothing.
    const plan = launchPlan({
      request,
      binding,
      port,
      routeId,
      key,
      credentialEnvs: state.current().connections.flatMap((row) => row.credentialEnv ?? []),
      codexCatalogPath: client === 'codex' ? deps.codexCatalogPath(workerId) : null,
    })
    routes.bind(
      { workerId, sessionId, digest, connectionId: contract.connection.id, port, binding },
      { sessionId, client, choice, domain: contract.historyDomain, ...history },
      tx,
    )
    deps.onBound(digest, key, tx)
    return plan
  }

  interface Change {
    effect: RuntimeEffect
    apply(tx: Tx): void
  }

  /** @throws AppError: why it is refused. */
  function planChange({ sessionId, client, choice, allowHistoryStrip }: RuntimeChange): Change {
    demandEnabled(sessionId)
    const marks = routes.marks(sessionId)
    const kept = { domain: marks?.domain ?? null, opaque: marks?.opaque ?? false }
    if (choice.connectionId === null) {
      checkOwnLogin(sessionId, client)
      const portability = marks?.portability ?? 'keep'
      return {
        effect: { kind: 'next_turn', historyStripped: false },
        apply: (tx) => routes.remember({ sessionId, client, choice, ...kept, portability }, tx),
      }
    }
    const contract = verify(client, choice)
    const history = historyFor(sessionId, contract.historyDomain, allowHistoryStrip)
    const open = routes.ofSession(sessionId)
    const now = open.length > 0 && open.every((route) => canMove(route, contract, history))
    const remembered = { sessionId, client, choice, opaque: kept.opaque, portability: history.portability }
    return {
      effect: { kind: now ? 'now' : 'next_turn', historyStripped: history.strips },
      apply(tx) {
        routes.remember({ ...remembered, domain: now ? contract.historyDomain : kept.domain }, tx)
        if (!now) return
        const binding = bindingOf(contract, bound(history))
        for (const route of open) {
          const to = underName(binding, route.binding.clientModel)
          routes.move(route.workerId, { connectionId: contract.connection.id, binding: to }, tx)
        }
      },
    }
  }

  /**
   * Only the upstream may move under a running agent, to a model that takes what the agent believes its own takes, and never
   * between domains while a request is under way.
   */
  function canMove(route: Route, contract: VerifiedContract, history: History): boolean {
    const { binding } = route
    if (binding.routeProtocol !== contract.routeProtocol) return false
    if (binding.client === 'codex' && binding.clientModel !== contract.clientModel) return false
    if (binding.client === 'claude' && !canAnswerFor(contract.clientModel, binding.clientModel)) return false
    if (binding.historyDomain === contract.historyDomain && !history.strips) return true
    return deps.flights(route.digest) === 0
  }

  function refused(error: unknown): RuntimeEffect {
    if (error instanceof AppError) return { kind: 'refused', code: error.code }
    throw error
  }

  function previewRuntime(change: RuntimeChange): RuntimeEffect {
    try {
      return planChange(change).effect
    } catch (error) {
      return refused(error)
    }
  }

  return {
    bindWorker,
    previewRuntime,
    changeRuntime(change, tx) {
      let planned: Change
      try {
        planned = planChange(change)
      } catch (error) {
        return refused(error)
      }
      planned.apply(tx)
      return planned.effect
    },
    sessionRuntime(sessionId) {
      const route = routes.ofSession(sessionId).at(-1)
      if (route === undefined) return null
      const { binding } = route
      const row = state.current().connections.find((candidate) => candidate.id === route.connectionId)
      return {
        sessionId,
        client: binding.client,
        connectionId: route.connectionId,
        connectionName: row?.name ?? binding.connectionName,
        modelId: binding.upstreamModel,
        effort: binding.effort,
        efforts: offeredEfforts(binding.client, binding.routeProtocol, binding.efforts),
        credentialReady: row !== undefined && deps.isReady(row),
        generation: route.generation,
      }
    },
    verify,
  }
}

/** The binding for a client that goes on under the name it was started with. Of another model behind it nothing is claimed. */
function underName(binding: BindingJson, clientModel: string): BindingJson {
  const isItself = withoutLongContext(clientModel) === binding.upstreamModel
  return { ...binding, clientModel, ...(isItself ? {} : { provenance: 'configured_compatibility' as const }) }
}
