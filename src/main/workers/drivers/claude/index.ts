/** The driver of Claude Code: stream-json over stdio. */
import type { Driver, Session, SessionConfig } from '../../types.ts'
import type { DriverDeps, DriverFactory } from '../shared/types.ts'
import { checkSessionId, claudeArgs, fixedEnv, removeMcpFile, writeMcpFile } from './launch.ts'
import type { Opening } from './launch.ts'
import { claudePreflight } from './preflight.ts'
import { PRODUCT, openSession } from './session.ts'

/** The names that Claude Code has of its own in the host's environment. */
const OWN_ENV = ['CLAUDE_CONFIG_DIR'] as const

export const createClaudeDriver: DriverFactory = (deps) => {
  async function open(cfg: SessionConfig, opening: Opening, signal: AbortSignal): Promise<Session> {
    const mcpFile = await writeMcpFile(cfg)
    try {
      const started = await deps.start(
        {
          cfg,
          program: 'claude',
          args: claudeArgs(cfg, opening, mcpFile),
          env: { ...ownEnv(deps, cfg.env), ...fixedEnv(cfg) },
          keyOnDescriptor3: true,
        },
        signal,
      )
      return await openSession(deps, started, opening, mcpFile, signal)
    } catch (error) {
      await removeMcpFile(mcpFile)
      throw error
    }
  }

  const driver: Driver = {
    name: 'claude',
    product: PRODUCT,
    capabilities: () => ({
      loadSession: true,
      forkSession: true,
      followUpPrompts: true,
      permissionCallback: true,
      modeProof: 'first_prompt',
    }),
    async newSession(cfg, signal) {
      const sessionId = deps.ids.next()
      if (cfg.fork === null) return open(cfg, { kind: 'new', sessionId }, signal)
      const from = cfg.fork.agentSessionId
      checkSessionId(from)
      return open(cfg, { kind: 'fork', from, sessionId }, signal)
    },
    async loadSession(cfg, agentSessionId, signal) {
      checkSessionId(agentSessionId)
      return open(cfg, { kind: 'load', sessionId: agentSessionId }, signal)
    },
    preflight: (request, signal) => claudePreflight(deps, request, ownEnv(deps, request.env), signal),
  }
  return driver
}

/** From the host, where the owner's environment lacks them. */
function ownEnv({ hostEnv }: DriverDeps, env: Readonly<Record<string, string>>): Record<string, string> {
  const own: Record<string, string> = {}
  for (const name of OWN_ENV) {
    const value = env[name] ?? hostEnv(name)
    if (value !== undefined) own[name] = value
  }
  return own
}
