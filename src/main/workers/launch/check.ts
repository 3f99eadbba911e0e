/** A session's configuration, checked before anything runs. What is wrong here no retry can fix. */
import { isAbsolute } from 'node:path'
import type { Secret } from '../../platform/types.ts'
import { unusable } from '../errors.ts'
import type { McpServer, SessionConfig } from '../types.ts'
import { isExecutable, isFolder } from './program.ts'
import { verifyPrivateDir } from './private-dir.ts'

const WORKER_ID = /^[A-Za-z0-9-]{1,64}$/
const MCP_NAME = /^[A-Za-z0-9_-]{1,64}$/

/** @throws WorkerError `worker_unusable`, `private_dir_unsafe`. */
export async function checkConfig(cfg: SessionConfig): Promise<void> {
  if (!WORKER_ID.test(cfg.workerId)) throw unusable('A worker needs an id of letters, digits and hyphens.')
  if (!isAbsolute(cfg.cwd) || !(await isFolder(cfg.cwd))) {
    throw unusable('The folder of this session is not there.', cfg.cwd)
  }
  for (const dir of cfg.addDirs) {
    if (!isAbsolute(dir) || !(await isFolder(dir)))
      throw unusable('A further folder of this session is not there.', dir)
  }
  await checkMcpServers(cfg.mcpServers)
  await verifyPrivateDir(cfg.privateDir)
  // A launcher that confines shows the worker this folder, and no other would do.
  if (cfg.token !== null && cfg.scope.socketDir !== cfg.token.dir) {
    throw unusable("The folder of the token's socket is not the one that this worker may reach.", cfg.scope.socketDir)
  }
}

async function checkMcpServers(servers: readonly McpServer[]): Promise<void> {
  const names = new Set<string>()
  for (const { name, command } of servers) {
    if (!MCP_NAME.test(name) || name.includes('__'))
      throw unusable('An MCP server has a name that cannot be used.', name)
    if (names.has(name)) throw unusable('Two MCP servers have the same name.', name)
    names.add(name)
    if (!isAbsolute(command) || !(await isExecutable(command))) {
      throw unusable('An MCP server is no program at an absolute path.', name)
    }
  }
}

/** Argument lists are seen by every user of the machine. @throws WorkerError `worker_unusable`. */
export function refuseSecretsInArgs(
  args: readonly string[],
  servers: readonly McpServer[],
  secrets: readonly Secret[],
): void {
  const shown = [...args, ...servers.flatMap((server) => server.args)].join('\0')
  for (const secret of secrets) {
    const value = secret.reveal('redactor')
    if (value !== '' && shown.includes(value)) throw unusable('A secret would stand in an argument list.')
  }
}
