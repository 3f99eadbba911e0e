import { isAbsolute } from 'node:path'
import { WorkerError } from '../errors.ts'
import type { Command, Launcher, Scope } from '../types.ts'
import { isFolder } from './program.ts'

/** A scope that cannot be honoured whole. */
export function unsupported(detail: string): WorkerError {
  return new WorkerError('launch_scope_unsupported', 'The agent cannot be started the way this session asks for.', {
    started: 'never',
    detail,
  })
}

/** The command as it is, in the scope's folder. It confines nothing, and says so by refusing to. */
export const directLauncher: Launcher = {
  name: 'direct',
  async launch({ scope, command }) {
    if (scope.confine !== null) throw unsupported('this launcher does not confine')
    if (!(await isFolder(scope.workDir))) throw unsupported('the folder is not there')
    return { command, workDir: scope.workDir }
  },
  receipts: () => Promise.resolve([]),
}

/**
 * Runs a launcher and checks its answer: an absolute path, an existing folder, no name in the environment that was not
 * given. @throws WorkerError `launch_scope_unsupported`.
 */
export async function launchChecked(
  launcher: Launcher,
  request: { scope: Scope; command: Command },
  signal: AbortSignal,
): Promise<Command> {
  const { command, workDir } = await launcher.launch(request, signal)
  if (!isAbsolute(command.path)) throw unsupported(`${launcher.name}: the program's path is not absolute`)
  if (!isAbsolute(workDir) || !(await isFolder(workDir))) throw unsupported(`${launcher.name}: no such folder`)
  const given = new Set(Object.keys(request.command.env))
  const added = Object.keys(command.env).filter((name) => !given.has(name))
  if (added.length > 0) throw unsupported(`${launcher.name} added ${added.join(', ')} to the environment`)
  return { ...command, cwd: workDir }
}
