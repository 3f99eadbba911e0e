import { createAcpDriver } from './drivers/acp/index.ts'
import { createClaudeDriver } from './drivers/claude/index.ts'
import { createCodexDriver } from './drivers/codex/index.ts'
import { createSupervisor } from './supervisor.ts'
import type { WorkersDeps } from './supervisor.ts'
import type { Workers } from './types.ts'

/** The drivers of this build. */
const DRIVERS = [createAcpDriver, createClaudeDriver, createCodexDriver]

export function createWorkers(deps: WorkersDeps): Workers {
  return createSupervisor(deps, DRIVERS)
}

export type { WorkersDeps } from './supervisor.ts'
export { builtinProfile, customProfile, knownAgent, KNOWN_AGENTS } from './drivers/acp/index.ts'
export { WorkerError } from './errors.ts'
export { BASE_ENV, buildEnv } from './launch/env.ts'
export { createBubblewrapLauncher } from './launch/bubblewrap.ts'
export { doorsOut } from './launch/doors.ts'
export type { Sandbox } from './launch/bubblewrap.ts'
export { directLauncher } from './launch/launcher.ts'
export { loginShellPath } from './launch/login-path.ts'
export { findProgram } from './launch/program.ts'
export { LIMITS } from './limits.ts'
export { createPlatformTable } from './process/table.ts'
export type * from './types.ts'
