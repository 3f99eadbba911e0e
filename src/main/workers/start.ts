/** From a driver's plan to a recorded worker: check, environment, program, launcher, spawn. */
import { isAbsolute } from 'node:path'
import type { Secret } from '../platform/types.ts'
import { WorkerError, unusable } from './errors.ts'
import type { StartPlan, StartedWorker } from './drivers/shared/types.ts'
import { checkConfig, refuseSecretsInArgs } from './launch/check.ts'
import { directLauncher, launchChecked, unsupported } from './launch/launcher.ts'
import { findProgram, isFolder } from './launch/program.ts'
import { lowerLimits } from './limits.ts'
import { WORKER_MARK } from './process/source.ts'
import type { Command, Exit, ProcessIdentity, Redaction, Redactor, ReleaseOutcome } from './types.ts'
import { startWorker } from './worker.ts'
import type { WorkerDeps } from './worker.ts'

/** Where a worker's stages are told, for the list of workers and its slots. */
export interface WorkerStages {
  started(workerId: string, process: ProcessIdentity): void
  releasing(workerId: string): void
  released(workerId: string, outcome: ReleaseOutcome, exit: Exit | null): void
}

export interface StarterDeps extends WorkerDeps {
  redactor(redaction: Redaction): Redactor
  stages: WorkerStages
}

export function createStarter(deps: StarterDeps): (plan: StartPlan, signal: AbortSignal) => Promise<StartedWorker> {
  return async (plan, signal) => {
    const { cfg } = plan
    await checkConfig(cfg)
    const key = cfg.route?.key
    const env = workerEnv(plan)
    const path = await findProgram(plan.program, env['PATH'])
    if (path === null) throw missing(plan.program)
    if (cfg.route !== null && cfg.scope.confine?.network === 'none') {
      throw unsupported('without a network its connection could not be reached')
    }
    const command = await launchChecked(
      cfg.launcher ?? directLauncher,
      { scope: cfg.scope, command: { path, args: plan.args, env, cwd: cfg.cwd } },
      signal,
    )
    const secrets = key === undefined ? cfg.redaction.secrets : [...cfg.redaction.secrets, key]
    refuseSecretsInArgs(command.args, cfg.mcpServers, secrets)
    if (signal.aborted) throw new WorkerError('aborted', 'The start was given up.', { started: 'never' })

    const limits = lowerLimits(cfg.limits)
    const redactor = deps.redactor({
      secrets,
      env: Object.assign({}, command.env, cfg.redaction.env, ...cfg.mcpServers.map((server) => server.env)),
      dirs: [cfg.privateDir, ...cfg.redaction.dirs],
    })
    const worker = await startWorker(deps, {
      workerId: cfg.workerId,
      command,
      key: plan.keyOnDescriptor3 === true ? (key ?? null) : null,
      privateDir: cfg.privateDir,
      token: cfg.token,
      redactor,
      limits,
      onStarted(process) {
        deps.stages.started(cfg.workerId, process)
        return cfg.onStarted(process)
      },
      onReleasing: () => deps.stages.releasing(cfg.workerId),
      onReleased: (outcome, exit) => deps.stages.released(cfg.workerId, outcome, exit),
    })
    return { worker, cfg, limits, redactor, env: command.env }
  }
}

/** `cfg.env`, the driver's, the route's, and the mark by which every descendant is known. */
function workerEnv({ cfg, env }: StartPlan): Record<string, string> {
  const all: Record<string, string> = { ...cfg.env, ...env, ...cfg.route?.envSet }
  const unset = new Set(cfg.route?.envUnset)
  const kept = Object.entries(all).filter(([name]) => !unset.has(name))
  return { ...Object.fromEntries(kept), [WORKER_MARK]: cfg.workerId }
}

/** A bare command as it will be spawned. @throws WorkerError `worker_unusable`, `worker_not_started`. */
export async function bareCommand(workerId: string, command: Command, secrets: readonly Secret[]): Promise<Command> {
  // Node would say of a folder that is not there that the program is not.
  if (!isAbsolute(command.cwd) || !(await isFolder(command.cwd))) {
    throw unusable('The folder that this program is to run in is not there.', command.cwd)
  }
  refuseSecretsInArgs(command.args, [], secrets)
  const path = await findProgram(command.path, command.env['PATH'])
  if (path === null) throw missing(command.path)
  return { ...command, path, env: { ...command.env, [WORKER_MARK]: workerId } }
}

function missing(program: string): WorkerError {
  return new WorkerError('worker_not_started', `${program} was not found, or cannot be run.`, {
    started: 'never',
    detail: program,
  })
}
