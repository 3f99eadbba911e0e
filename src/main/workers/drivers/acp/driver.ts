/** The `acp` driver: any agent that speaks the Agent Client Protocol, version 1, described by an `AgentProfile`. */
import { Effort } from '../../../../shared/vocabulary.ts'
import { unusable } from '../../errors.ts'
import type { AgentProfile, Capabilities, Driver, Session, SessionConfig } from '../../types.ts'
import type { DriverDeps, StartPlan } from '../shared/types.ts'
import { prepareAdapter } from './adapters/index.ts'
import { isSessionId, shakeHands } from './handshake.ts'
import type { Advertised } from './handshake.ts'
import { preflightAcp } from './preflight.ts'
import { createAcpConversation } from './session.ts'

/** What an agent is taken for before it was first started. */
const SHIPPED: Capabilities = {
  loadSession: true,
  forkSession: false,
  followUpPrompts: true,
  permissionCallback: true,
  modeProof: 'before_prompt',
}

export function createAcpDriver(deps: DriverDeps): Driver {
  const advertisedBy = new Map<string, Advertised>()

  async function open(cfg: SessionConfig, load: string | null, signal: AbortSignal): Promise<Session> {
    const profile = profileOf(cfg)
    if (load !== null && !isSessionId(load)) throw unusable('This is not the id of a conversation.')
    const { mode } = cfg.policy.rules()
    const prepared = await prepareAdapter({ deps, cfg, profile, mode })
    const plan: StartPlan = {
      cfg,
      program: profile.command,
      args: profile.args,
      env: { ...profileEnv(deps, cfg, profile), ...prepared.env },
      keyOnDescriptor3: profile.keyVariable !== null,
    }
    const started = await deps.start(plan, signal).catch(async (error: unknown) => {
      await prepared.discard()
      throw error
    })
    const acp = createAcpConversation(started, deps, profile, mode)
    const { conversation } = acp
    const advertised = await conversation.open(signal, (inner) =>
      shakeHands({ acp, deps, cfg, profile, prepared, mode, load }, inner),
    )
    started.worker.dropKey()
    advertisedBy.set(profile.id, advertised)
    return conversation.session({
      id: acp.sessionId ?? '',
      facts: acp.facts,
      refusalReason: profile.reasonInAnswer ? 'in_answer' : 'next_prompt',
      runtime: () => {
        const effort = Effort.safeParse(acp.runtime.effort)
        return { modelId: acp.runtime.modelId, effort: effort.success ? effort.data : null }
      },
    })
  }

  return {
    name: 'acp',
    product: 'ACP agent',
    capabilities: (profileId = '') => ({ ...SHIPPED, ...advertisedBy.get(profileId) }),
    newSession: (cfg, signal) => open(cfg, null, signal),
    loadSession: (cfg, agentSessionId, signal) => open(cfg, agentSessionId, signal),
    async preflight(request, signal) {
      const { profile } = request
      if (profile === undefined) throw unusable('Which ACP agent to check was not said.')
      const env = { ...request.env, ...profileEnv(deps, request, profile) }
      return preflightAcp(deps, { ...request, env }, profile, signal)
    },
  }
}

/** @throws WorkerError `worker_unusable`: no profile, or a route that the agent has no way to take. */
function profileOf(cfg: SessionConfig): AgentProfile {
  const { profile, route } = cfg
  if (profile === undefined) throw unusable('Which ACP agent to start was not said.')
  // That one is given its connection's settings, and its key, by its own protocol.
  if (profile.adapter === 'codex') return profile
  if (route !== null && (route.argv.length > 0 || Object.keys(route.config).length > 0)) {
    throw unusable(`${profile.product} takes its connection from its environment alone.`)
  }
  if (route?.key !== undefined && profile.keyVariable === null) {
    throw unusable(`${profile.product} cannot be handed a key.`)
  }
  return profile
}

function profileEnv(
  deps: DriverDeps,
  cfg: Pick<SessionConfig, 'env' | 'route'>,
  profile: AgentProfile,
): Record<string, string> {
  const env: Record<string, string> = {}
  for (const name of profile.envNames) {
    const value = deps.hostEnv(name)
    if (value !== undefined && cfg.env[name] === undefined) env[name] = value
  }
  Object.assign(env, profile.env)
  if (profile.keyVariable !== null && cfg.route?.key !== undefined) env[profile.keyVariable] = '3'
  return env
}
