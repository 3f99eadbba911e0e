import { rm } from 'node:fs/promises'
import { AppError } from '../../shared/errors.ts'
import type { AgentId } from '../../shared/vocabulary.ts'
import type { Clock, Ids } from '../platform/index.ts'
import { BASE_ENV, buildEnv } from '../workers/index.ts'
import type { Preflight, Workers } from '../workers/index.ts'
import type { AgentDefinition, Agents } from './agents.ts'

/** What a check found; null: none has run yet. */
export interface AgentReadiness {
  agent: AgentDefinition
  preflight: Preflight | null
}

export interface Preflights {
  list(): readonly AgentReadiness[]
  /** Runs the agent's checks; never sends a prompt and calls no model. Two callers share one run. */
  run(agentId: AgentId, signal: AbortSignal): Promise<AgentReadiness>
  /** The same for an agent that is not added yet: nothing is remembered before `keep`. */
  check(agent: AgentDefinition, signal: AbortSignal): Promise<Preflight>
  keep(agentId: AgentId, preflight: Preflight): void
  onChange(listener: () => void): () => void
}

export function createPreflights(deps: {
  clock: Clock
  ids: Ids
  agents: Agents
  workers: Workers
  hostEnv(name: string): string | undefined
  /** Resolves once that environment is known whole. */
  environment: Promise<void>
}): Preflights {
  const found = new Map<AgentId, Preflight>()
  const running = new Map<AgentId, Promise<AgentReadiness>>()
  const listeners = new Set<() => void>()

  const check = async (agent: AgentDefinition, signal: AbortSignal): Promise<Preflight> => {
    await deps.environment
    const privateDir = await deps.workers.privateDir(deps.ids.next())
    try {
      return await deps.workers.driver(agent.driver).preflight(
        {
          env: buildEnv(BASE_ENV, deps.hostEnv, {}),
          route: null,
          privateDir,
          ...(agent.profile === null ? {} : { profile: agent.profile }),
        },
        signal,
      )
    } finally {
      await rm(privateDir, { recursive: true, force: true })
    }
  }

  const keep = (agentId: AgentId, preflight: Preflight): void => {
    found.set(agentId, preflight)
    for (const listener of listeners) listener()
  }

  const run = async (agentId: AgentId, signal: AbortSignal): Promise<AgentReadiness> => {
    const agent = deps.agents.get(agentId)
    const preflight = await check(agent, signal)
    keep(agentId, preflight)
    return { agent, preflight }
  }

  return {
    list: () => deps.agents.list().map((agent) => ({ agent, preflight: found.get(agent.id) ?? null })),
    run(agentId, signal) {
      if (signal.aborted) return Promise.reject(new AppError('aborted', 'The check was cancelled.'))
      const under = running.get(agentId)
      if (under !== undefined) return under
      const started = run(agentId, signal).finally(() => running.delete(agentId))
      running.set(agentId, started)
      return started
    },
    check,
    keep,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
