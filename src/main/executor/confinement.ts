import { AppError } from '../../shared/errors.ts'
import { makeFolders } from '../platform/index.ts'
import type { Launcher, Sandbox, Scope } from '../workers/index.ts'
import type { AgentDefinition } from './agents.ts'
import type { WorkerSetup } from './types.ts'

export interface Confinement {
  /** Null: the command as it is. */
  launcher: Launcher | null
  confine: Scope['confine']
}

const NONE: Confinement = { launcher: null, confine: null }

/**
 * How a worker is kept to its roots. Its own folders stay writable, and the network stays: without one no model is reached.
 * @throws AppError `config_option_unavailable`.
 */
export async function confinementOf(
  sandbox: Sandbox,
  agent: AgentDefinition,
  setup: Pick<WorkerSetup, 'sandbox' | 'roots'>,
): Promise<Confinement> {
  if (setup.sandbox !== 'workspace' || agent.confine === 'own') return NONE
  const why = await whyNotConfined(sandbox, agent)
  if (agent.confine === undefined || why !== null) throw unavailable(agent, why)
  for (const folder of agent.confine.writable) await makeFolders(folder)
  return {
    launcher: sandbox,
    confine: { network: 'host', writable: [...setup.roots, ...agent.confine.writable], readOnly: [] },
  }
}

/** Null: this agent can be confined here; else why not, for a person. */
export async function whyNotConfined(sandbox: Sandbox, { confine, label }: AgentDefinition): Promise<string | null> {
  if (confine === 'own') return null
  if (confine === undefined) return `${label} cannot be confined: it is not known where it has to write.`
  return sandbox.trial()
}

function unavailable({ label }: AgentDefinition, why: string | null): AppError {
  return new AppError('config_option_unavailable', why ?? `${label} cannot be confined.`)
}
