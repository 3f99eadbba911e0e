import { AppError } from '../../shared/errors.ts'
import type { Actor, AgentId, Effort, RuntimeChoice } from '../../shared/vocabulary.ts'
import type { Store } from '../platform/index.ts'
import type { Providers, RuntimeEffect } from '../providers/index.ts'
import type { Runtime } from '../runtime/index.ts'
import type { Agents } from './agents.ts'
import { cascade } from './cascade.ts'
import type { AgentExecutor } from './executor.ts'

export interface RuntimeOption {
  choice: RuntimeChoice
  label: string
  ready: boolean
  /** What the model can be asked for beside its own default. */
  efforts: readonly Effort[]
}

/** The only door that changes a session's connection, model or effort. */
export interface SessionRuntimes {
  options(agentId: AgentId): readonly RuntimeOption[]
  /** What a new session of that agent runs on: the client's default, the agent's own login, or the first that is ready. */
  initial(agentId: AgentId): RuntimeChoice
  labelOf(agentId: AgentId, choice: RuntimeChoice): string
  isRehearsal(choice: RuntimeChoice): boolean
  /** What the session would run on were its Provider alone another one. */
  cascade(session: { agentId: AgentId; choice: RuntimeChoice }, connectionId: string | null): RuntimeChoice
  /** What `set` would answer; null: nobody can say, since the agent has no Provider or the catalog cannot be read. Changes nothing. */
  preview(session: { id: string; agentId: AgentId }, choice: RuntimeChoice): RuntimeEffect | null
  /** Binding and session row move together, in one transaction. @throws AppError `config_conflict`, `config_value_invalid`. */
  set(
    request: { sessionId: string; choice: RuntimeChoice; allowHistoryStrip: boolean; expectedRev: number; by: Actor },
    signal?: AbortSignal,
  ): Promise<{ rev: number; effect: RuntimeEffect }>
}

export const OWN_LOGIN: RuntimeChoice = { connectionId: null, modelId: null, effort: 'default' }

export function createSessionRuntimes(deps: {
  store: Store
  agents: Agents
  providers: Providers
  executor: AgentExecutor
  runtime: () => Runtime
  /** The preset of a connection; null: there is none of that id. */
  presetOf(connectionId: string): string | null
}): SessionRuntimes {
  const { store, agents, providers, executor, runtime } = deps

  const options = (agentId: AgentId): readonly RuntimeOption[] => {
    const agent = agents.get(agentId)
    // A catalog that cannot be read must not keep anybody from reading their sessions.
    const routed = agent.client === null || providers.failure() !== null ? [] : providers.choices(agent.client)
    // Whose model it is goes without saying only where there is no other, the agent's own login among them.
    const several = agent.ownLogin || new Set(routed.map(({ choice }) => choice.connectionId)).size > 1
    const listed = routed.map(({ choice, label, connectionName, efforts, ready }) => ({
      choice,
      label: several ? `${connectionName} · ${label}` : label,
      efforts,
      ready,
    }))
    return agent.ownLogin
      ? [...listed, { choice: OWN_LOGIN, label: `${agent.label}’s own login`, ready: true, efforts: [] }]
      : listed
  }

  /** What a choice is called that leaves the model to its connection. */
  const connectionName = (agentId: AgentId, connectionId: string | null): string | undefined => {
    const { client } = agents.get(agentId)
    if (client === null || providers.failure() !== null) return undefined
    return providers.choices(client).find(({ choice }) => choice.connectionId === connectionId)?.connectionName
  }

  return {
    options,
    initial(agentId) {
      const agent = agents.get(agentId)
      const preferred = agent.client === null ? null : providers.defaultChoice(agent.client)
      if (preferred !== null) return preferred
      if (agent.ownLogin) return OWN_LOGIN
      const known = options(agentId)
      const first = known.find((option) => option.ready) ?? known[0]
      if (first !== undefined) return first.choice
      throw new AppError(
        'upstream_model_required',
        `${agent.label} needs a Provider. Add one, or use the rehearsal model.`,
      )
    },
    labelOf(agentId, choice) {
      const same = options(agentId).find(
        (option) => option.choice.connectionId === choice.connectionId && option.choice.modelId === choice.modelId,
      )
      if (same !== undefined) return same.label
      return choice.modelId ?? connectionName(agentId, choice.connectionId) ?? 'A Provider that is no longer there'
    },
    isRehearsal: (choice) => choice.connectionId !== null && deps.presetOf(choice.connectionId) === 'rehearsal',
    cascade: ({ agentId, choice }, connectionId) => cascade(options(agentId), choice, connectionId),
    preview({ id, agentId }, choice) {
      const { client } = agents.get(agentId)
      if (client === null || providers.failure() !== null) return null
      return providers.previewRuntime({ sessionId: id, client, choice, allowHistoryStrip: false })
    },
    async set(request, signal) {
      const { sessionId, choice, allowHistoryStrip, expectedRev, by } = request
      const session = runtime().sessions.get(sessionId)
      const agent = agents.get(session.agentId)
      const failure = providers.failure()
      if (failure !== null && choice.connectionId !== null) throw failure
      checkChoice(options(session.agentId), choice)
      const client = agent.client
      const done = await store.writeTx((tx) => {
        const effect: RuntimeEffect =
          client === null || failure !== null
            ? { kind: 'next_turn', historyStripped: false }
            : providers.changeRuntime({ sessionId, client, choice, allowHistoryStrip }, tx)
        if (effect.kind === 'refused') return { rev: session.rev, effect }
        const { rev } = runtime().config.applyChoice({ sessionId, choice, expectedRev, by }, tx)
        return { rev, effect }
      }, signal)
      if (done.effect.kind === 'now') executor.choiceMoved(sessionId, choice)
      return done
    },
  }
}

function checkChoice(options: readonly RuntimeOption[], choice: RuntimeChoice): void {
  if (options.some((option) => option.choice.connectionId === choice.connectionId)) return
  throw new AppError(
    'config_value_invalid',
    'This session’s agent cannot use that Provider. Choose one from its list.',
    {
      detail: choice.connectionId ?? 'own login',
    },
  )
}
