/** The driver of Codex: its app-server over stdio. */
import type { Capabilities, Driver, SessionConfig, Session } from '../../types.ts'
import type { DriverDeps, DriverFactory } from '../shared/types.ts'
import { codexLaunch } from './launch.ts'
import { codexPreflight } from './preflight.ts'
import { PRODUCT, openSession } from './session.ts'
import { checkThreadId } from './thread.ts'
import type { Opening } from './thread.ts'

/** The names that Codex has of its own in the host's environment. */
const OWN_ENV = ['CODEX_HOME'] as const

export const createCodexDriver: DriverFactory = (deps) => {
  let modeProof: Capabilities['modeProof'] = 'before_prompt'

  async function open(cfg: SessionConfig, opening: Opening, signal: AbortSignal): Promise<Session> {
    if (opening.kind !== 'new') checkThreadId(opening.agentSessionId)
    const launch = codexLaunch(cfg)
    const started = await deps.start({ cfg, program: 'codex', args: launch.args, env: ownEnv(deps, cfg.env) }, signal)
    const opened = await openSession(deps, started, launch, opening, signal)
    modeProof = opened.modeProof
    return opened.session
  }

  const driver: Driver = {
    name: 'codex',
    product: PRODUCT,
    capabilities: () => ({
      loadSession: true,
      forkSession: true,
      followUpPrompts: true,
      permissionCallback: true,
      modeProof,
    }),
    newSession(cfg, signal) {
      const { fork } = cfg
      return open(cfg, fork === null ? { kind: 'new' } : { kind: 'fork', agentSessionId: fork.agentSessionId }, signal)
    },
    loadSession: (cfg, agentSessionId, signal) => open(cfg, { kind: 'load', agentSessionId }, signal),
    preflight: (request, signal) => codexPreflight(deps, request, ownEnv(deps, request.env), signal),
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
