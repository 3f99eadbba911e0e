import { AppError } from '../../shared/errors.ts'
import type { RuntimeChoice } from '../../shared/vocabulary.ts'
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
  setup: Pick<WorkerSetup, 'sandbox' | 'roots' | 'choice'>,
): Promise<Confinement> {
  if (setup.sandbox !== 'workspace' || agent.confine === 'own') return NONE
  const why = await whyNotConfined(sandbox, agent, setup.choice)
  if (agent.confine === undefined || why !== null) throw unavailable(agent, why)
  const { writable, readOnly = [], scratch = [] } = agent.confine
  for (const folder of [...writable, ...scratch]) await makeFolders(folder)
  return {
    launcher: sandbox,
    confine: { network: 'host', writable: [...setup.roots, ...writable], readOnly, scratch },
  }
}

/** Null: this agent can be confined here; else why not, for a person. `choice` null: on a connection, whichever it is. */
export async function whyNotConfined(
  sandbox: Sandbox,
  { confine, label }: AgentDefinition,
  choice: Pick<RuntimeChoice, 'connectionId'> | null,
): Promise<string | null> {
  if (confine === 'own') return null
  if (confine === undefined) return `${label} cannot be confined: it is not known where it has to write.`
  if (confine.routedOnly === true && choice?.connectionId === null) {
    return `${label} can be confined on a connection alone: on its own login it has to write where that is kept.`
  }
  return sandbox.trial()
}

function unavailable({ label }: AgentDefinition, why: string | null): AppError {
  return new AppError('config_option_unavailable', why ?? `${label} cannot be confined.`)
}
