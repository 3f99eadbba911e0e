/**
 * codex-acp. What counts when its Codex starts it cannot be told: a script in the worker's private folder stands in
 * between and adds it. It trusts the session's folder whatever it is told, and the folder's own MCP servers then start
 * in every mode: such a folder is refused until the person trusts it.
 */
import { open, realpath, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { WorkerError, unusable } from '../../../errors.ts'
import { verifyPrivateDir } from '../../../launch/private-dir.ts'
import { codexLaunch, threadConfig } from '../../codex/launch.ts'
import { refuseFolderServers } from './codex-folder.ts'
import { readCodexConfig } from './codex-config.ts'
import type { AdapterParts, Prepared } from './types.ts'

const SCRIPT = 'codex'
const SERVER_NAME = /^[A-Za-z0-9_-]+$/

export async function prepareCodex(parts: AdapterParts): Promise<Prepared> {
  const { deps, cfg, profile, mode } = parts
  const home = cfg.env['CODEX_HOME'] || deps.hostEnv('CODEX_HOME') || join(cfg.env['HOME'] ?? '/', '.codex')
  const user = await readCodexConfig(join(home, 'config.toml'))
  if (!cfg.folderTrusted) await refuseFolderServers(cfg.cwd, home, user)
  const theirs = Object.keys(user.mcp_servers ?? {})
  const taken = cfg.mcpServers.find(({ name }) => theirs.includes(name))
  if (taken !== undefined) {
    throw new WorkerError('mcp_mismatch', 'An MCP server of the user has the name of one that was given.', {
      started: 'never',
      detail: taken.name,
    })
  }
  const launch = codexLaunch({ route: cfg.route, mcp: cfg.mcp })
  const config = threadConfig({ ...cfg, mcpServers: [] }, launch.config, user)
  const [initial] = profile.modes[mode]
  const script = await writeScript(cfg.privateDir, [
    ...(await codexCommand(parts)),
    ...launch.args.slice(0, -1),
    ...(cfg.mcp === 'exact' ? theirs.flatMap((name) => ['-c', `mcp_servers.${plainName(name)}.enabled=false`]) : []),
  ])
  const key = cfg.route?.key
  return {
    env: {
      CODEX_PATH: script,
      CODEX_CONFIG: JSON.stringify(hidingItself(config)),
      ...(initial === undefined ? {} : { INITIAL_AGENT_MODE: initial }),
    },
    sessionMeta: {},
    loginMeta: key === undefined ? {} : { 'api-key': { apiKey: key.reveal('upstream_header') } },
    discard: () => rm(script, { force: true }).catch(() => undefined),
  }
}

/** No command of the agent's needs to see how it was set up. */
function hidingItself(config: ReturnType<typeof threadConfig>): ReturnType<typeof threadConfig> {
  const shells = config['shell_environment_policy']
  const policy = typeof shells === 'object' && shells !== null && !Array.isArray(shells) ? shells : {}
  const exclude = Array.isArray(policy['exclude']) ? policy['exclude'] : []
  return { ...config, shell_environment_policy: { ...policy, exclude: [...exclude, 'CODEX_CONFIG', 'CODEX_PATH'] } }
}

/** @throws WorkerError `worker_unusable`: a flag names a server by its plain name alone. */
function plainName(name: string): string {
  if (SERVER_NAME.test(name)) return name
  throw unusable('An MCP server of the user cannot be kept from starting: rename it in Codex’s config.toml.', name)
}

/** The Codex that it would have started: one that the person named, the one that it brings, or the one on the PATH. */
async function codexCommand({ deps, cfg, profile }: AdapterParts): Promise<string[]> {
  const named = cfg.env['CODEX_PATH'] ?? deps.hostEnv('CODEX_PATH')
  if (named !== undefined) return [named]
  const path = cfg.env['PATH']
  const adapter = await deps.findProgram(profile.command, path)
  const node = await deps.findProgram('node', path)
  const own = adapter === null ? null : await broughtAlong(adapter)
  if (own !== null && node !== null) return [node, own]
  const installed = await deps.findProgram('codex', path)
  if (installed !== null) return [installed]
  throw unusable('The Codex that codex-acp works with was not found. Install Codex, or set CODEX_PATH.')
}

async function broughtAlong(adapter: string): Promise<string | null> {
  try {
    return createRequire(await realpath(adapter)).resolve('@openai/codex/bin/codex.js')
  } catch {
    return null
  }
}

/** @throws WorkerError `private_dir_unsafe`, `private_dir_failed`. */
async function writeScript(dir: string, command: readonly string[]): Promise<string> {
  await verifyPrivateDir(dir)
  const path = join(dir, SCRIPT)
  try {
    await using file = await open(path, 'wx', 0o700)
    await file.writeFile(`#!/bin/sh\nexec ${command.map(quoted).join(' ')} "$@"\n`)
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined)
    const detail = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new WorkerError('private_dir_failed', 'What starts Codex could not be written.', { started: 'never', detail })
  }
  return path
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
