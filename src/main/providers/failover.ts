/** Who may answer in a route's place, by the rule that a person made for the client's default. */
import { AppError } from '../../shared/errors.ts'
import type { CatalogState } from './catalog/state.ts'
import type { CodexModel } from './contracts/codex-models.ts'
import { verifyChoice } from './contracts/contract.ts'
import type { VerifiedContract } from './contracts/contract.ts'
import type { Candidate, Failover, RouteBinding } from './router/types.ts'
import { bindingOf, notWire, toRouterBinding } from './routes/binding.ts'
import type { Route } from './routes/binding.ts'
import type { Routes } from './routes/routes.ts'
import type { FailoverRule, ProviderConnection, RuntimeChoice } from './types.ts'

export interface FailoverDeps {
  state: CatalogState
  routes: Routes
  codexModels: () => ReadonlyMap<string, CodexModel>
  isReady: (connection: ProviderConnection) => boolean
  isLeaving: (connectionId: string) => boolean
}

export interface Failovers {
  /** Null: nobody. `binding` is a copy that the routes handed out. */
  of(binding: RouteBinding): Failover | null
  /** What stands behind a candidate's binding. Null: it is none. */
  behind(binding: RouteBinding): Route | null
  /** Whether requests of this worker may go to another; without a word of a run, they may not. */
  allow(workerId: string, allowed: boolean): void
  forget(workerId: string): void
}

/** The rule holds for sessions on the very connection that it was made for: who chose another one chose it. */
export function createFailovers(deps: FailoverDeps): Failovers {
  const { state, routes } = deps
  const allowed = new Set<string>()
  const origins = new WeakMap<RouteBinding, Route>()
  /** By the route's copy, which is another object after each change of it. */
  const made = new WeakMap<RouteBinding, { revision: number; candidates: readonly Candidate[] }>()

  function ruleFor({ client, connectionId }: RouteBinding): FailoverRule | null {
    const recorded = state.current().defaults[client]
    return recorded?.connectionId === connectionId ? (recorded.failover ?? null) : null
  }

  function candidatesOf(binding: RouteBinding, route: Route, rule: FailoverRule): readonly Candidate[] {
    const { revision } = state.current()
    const known = made.get(binding)
    if (known?.revision === revision) return known.candidates
    const candidates = rule.chain.flatMap((link): Candidate[] => {
      const isItself = link.connectionId === binding.connectionId && link.modelId === binding.upstreamModel
      const contract = isItself ? null : contractOf(binding, link)
      const candidate = contract === null ? null : candidateOf(binding, route, contract, rule)
      return candidate === null ? [] : [candidate]
    })
    made.set(binding, { revision, candidates })
    return candidates
  }

  /** With the route's effort where that model has it. Null: the route cannot be served by it. */
  function contractOf(binding: RouteBinding, link: FailoverRule['chain'][number]): VerifiedContract | null {
    const verify = (effort: RuntimeChoice['effort']): VerifiedContract =>
      verifyChoice(state.current(), binding.client, { ...link, effort }, deps.codexModels())
    for (const effort of [binding.effort, 'default'] as const) {
      try {
        const contract = verify(effort)
        return contract.routeProtocol === binding.routeProtocol ? contract : null
      } catch (error) {
        if (!(error instanceof AppError)) throw error
      }
    }
    return null
  }

  /** Null: it could not read the session's history, and may not be given a cut one. */
  function candidateOf(
    binding: RouteBinding,
    route: Route,
    contract: VerifiedContract,
    { allowHistoryStrip }: FailoverRule,
  ): Candidate | null {
    const isStripped = binding.historyPortability !== null
    const isOther = contract.historyDomain !== route.binding.historyDomain
    const isOpaque = binding.historyState === 'may_contain_opaque'
    if (isOther && isOpaque && !isStripped && !allowHistoryStrip) return null
    const strips = isOther && !isStripped
    const own = bindingOf(contract, {
      catalogRevision: state.current().revision,
      historyPortability: isStripped || (strips && isOpaque) ? 'strip' : 'keep',
    })
    const stored: Route = notWire({
      ...route,
      connectionId: contract.connection.id,
      // The client goes on under the name it was started with, and every name of it means the one model.
      binding: notWire({ ...own, clientModel: binding.clientModel, smallModel: null }),
    })
    const copy = toRouterBinding(stored, isOpaque)
    origins.set(copy, stored)
    return { binding: copy, strips }
  }

  function isAskable({ binding: { connectionId } }: Candidate): boolean {
    const row = state.current().connections.find(({ id }) => id === connectionId)
    return row !== undefined && deps.isReady(row) && !deps.isLeaving(connectionId)
  }

  return {
    of(binding) {
      const rule = ruleFor(binding)
      if (rule === null) return null
      const route = routes.behind(binding)
      if (route === null || !allowed.has(route.workerId)) return null
      const candidates = candidatesOf(binding, route, rule).filter(isAskable)
      return candidates.length === 0 ? null : { on429: rule.on429, candidates }
    },
    behind: (binding) => origins.get(binding) ?? null,
    allow(workerId, may) {
      if (may) allowed.add(workerId)
      else allowed.delete(workerId)
    },
    forget: (workerId) => void allowed.delete(workerId),
  }
}
