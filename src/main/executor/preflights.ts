import { rm, stat } from 'node:fs/promises'
import { AppError } from '../../shared/errors.ts'
import type { AgentId } from '../../shared/vocabulary.ts'
import type { Ids } from '../platform/index.ts'
import { BASE_ENV, buildEnv, findProgram } from '../workers/index.ts'
import type { Preflight, Workers } from '../workers/index.ts'
import type { AgentDefinition, Agents } from './agents.ts'

/** What a check found; null: none has run yet, or its program was changed since. */
export interface AgentReadiness {
  agent: AgentDefinition
  preflight: Preflight | null
}

export interface Preflights {
  list(): Promise<readonly AgentReadiness[]>
  /**
   * Runs the agent's checks; never sends a prompt and calls no model. Callers share one run, which is given up when all of
   * them are gone. @throws AppError `agent_unknown`, `aborted`.
   */
  run(agentId: AgentId, signal: AbortSignal): Promise<AgentReadiness>
  /** The same for an agent that is not added yet: nothing is remembered before `keep`. */
  check(agent: AgentDefinition, signal: AbortSignal): Promise<Preflight>
  keep(agent: AgentDefinition, preflight: Preflight): Promise<void>
}

interface Running {
  done: Promise<AgentReadiness>
  stop: AbortController
  waiting: number
}

export function createPreflights(deps: {
  ids: Ids
  agents: Pick<Agents, 'list' | 'get'>
  workers: Pick<Workers, 'driver' | 'privateDir'>
  hostEnv(name: string): string | undefined
  /** Resolves once that environment is known whole. */
  environment: Promise<void>
}): Preflights {
  const found = new Map<AgentId, { preflight: Preflight; program: string }>()
  const running = new Map<AgentId, Running>()

  /** Changes when another program would be started, or the same one was replaced. Packages may carry any time of writing. */
  async function programOf({ profile, driver }: AgentDefinition): Promise<string> {
    await deps.environment
    const path = await findProgram(profile?.command ?? driver, deps.hostEnv('PATH'))
    const file = path === null ? null : await stat(path).catch(() => null)
    return `${path} ${file?.ino} ${file?.ctimeMs}`
  }

  async function check(agent: AgentDefinition, signal: AbortSignal): Promise<Preflight> {
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

  async function keep(agent: AgentDefinition, preflight: Preflight): Promise<void> {
    found.set(agent.id, { preflight, program: await programOf(agent) })
  }

  async function readinessOf(agent: AgentDefinition): Promise<AgentReadiness> {
    const last = found.get(agent.id)
    const holds = last !== undefined && last.program === (await programOf(agent))
    return { agent, preflight: holds ? last.preflight : null }
  }

  function begin(agentId: AgentId): Running {
    const agent = deps.agents.get(agentId)
    const stop = new AbortController()
    const done = check(agent, stop.signal).then(async (preflight) => {
      await keep(agent, preflight)
      return { agent, preflight }
    })
    const begun = { done, stop, waiting: 0 }
    const over = (): void => {
      if (running.get(agentId) === begun) running.delete(agentId)
    }
    running.set(agentId, begun)
    done.then(over, over)
    return begun
  }

  return {
    list: () => Promise.all(deps.agents.list().map(readinessOf)),
    run: (agentId, signal) =>
      new Promise((resolve, reject) => {
        const gaveUp = (): void => reject(new AppError('aborted', 'The check was cancelled.'))
        if (signal.aborted) return gaveUp()
        const shared = running.get(agentId) ?? begin(agentId)
        const leave = (): void => {
          gaveUp()
          shared.waiting -= 1
          if (shared.waiting > 0) return
          running.delete(agentId)
          shared.stop.abort()
        }
        shared.waiting += 1
        signal.addEventListener('abort', leave, { once: true })
        shared.done.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
      }),
    check,
    keep,
  }
}
