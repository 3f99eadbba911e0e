/** What Claude Code is started with. argv is seen by every user of the machine: no secret stands in it. */
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Effort } from '../../../../shared/vocabulary.ts'
import { WorkerError, unusable } from '../../errors.ts'
import { verifyPrivateDir } from '../../launch/private-dir.ts'
import { WORKER_MARK } from '../../process/source.ts'
import type { PermissionMode, SessionConfig } from '../../types.ts'
import { toolList } from './tools.ts'

/** The program's word for each mode. In the first two a hook of ours has it ask about every call. */
export const CLAUDE_MODE: Readonly<Record<PermissionMode, string>> = {
  read_only: 'default',
  ask: 'default',
  edits: 'acceptEdits',
  anything: 'bypassPermissions',
}

export function asksForAll(mode: PermissionMode): boolean {
  return mode === 'read_only' || mode === 'ask'
}

/** With a route. A settings file can then move neither address nor key; a refusal is not repeated for minutes. */
const ROUTED = { CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST: '1', CLAUDE_CODE_MAX_RETRIES: '4' } as const

export function fixedEnv(cfg: Pick<SessionConfig, 'route'>): Record<string, string> {
  return cfg.route === null ? {} : { ...ROUTED }
}

/** Without the person's trust nothing of the folder's own is run: nobody would be asked for it. */
export function settingSources(folderTrusted: boolean): string[] {
  return folderTrusted ? ['user', 'project', 'local'] : ['user']
}

export type Opening =
  | { kind: 'new'; sessionId: string }
  | { kind: 'load'; sessionId: string }
  | { kind: 'fork'; from: string; sessionId: string }

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** @throws WorkerError `worker_unusable`: no id of Claude Code's looks like that. */
export function checkSessionId(id: string): void {
  if (!SESSION_ID.test(id)) throw unusable('This is not the id of a conversation of Claude Code.')
}

type ArgsOf = Pick<
  SessionConfig,
  'policy' | 'mcp' | 'interactions' | 'folderTrusted' | 'addDirs' | 'route' | 'model' | 'effort'
>

/** `mcpFile`: where our servers stand; null: there are none. @throws WorkerError `worker_unusable`. */
export function claudeArgs(cfg: ArgsOf, opening: Opening, mcpFile: string | null): string[] {
  const { mode } = cfg.policy.rules()
  return [
    '-p',
    '--input-format',
    'stream-json',
    '--output-format',
    'stream-json',
    '--verbose',
    '--replay-user-messages',
    '--include-partial-messages',
    '--permission-mode',
    CLAUDE_MODE[mode],
    '--permission-prompt-tool',
    'stdio',
    '--setting-sources',
    settingSources(cfg.folderTrusted).join(','),
    '--tools',
    toolList(mode, cfg).join(','),
    ...(mcpFile === null ? [] : ['--mcp-config', mcpFile]),
    ...(cfg.mcp === 'exact' ? ['--strict-mcp-config'] : []),
    ...(cfg.addDirs.length === 0 ? [] : ['--add-dir', ...cfg.addDirs]),
    ...sessionArgs(opening),
    ...choiceArgs(cfg),
  ]
}

function sessionArgs(opening: Opening): string[] {
  if (opening.kind === 'load') return ['--resume', opening.sessionId]
  const own = ['--session-id', opening.sessionId]
  return opening.kind === 'new' ? own : ['--resume', opening.from, '--fork-session', ...own]
}

function choiceArgs({ route, model, effort }: ArgsOf): string[] {
  if (route !== null) return [...route.argv]
  const plain = (word: string): string => {
    if (word === '' || /^-|\s/.test(word)) throw unusable('This is no name of a model or an effort.', word)
    return word
  }
  return [
    ...(model === undefined ? [] : ['--model', plain(model)]),
    ...(effort === undefined || effort === 'default' ? [] : ['--effort', effortWord(effort)]),
  ]
}

const EFFORTS: ReadonlySet<Effort> = new Set<Effort>(['low', 'medium', 'high', 'xhigh', 'max'])

function effortWord(effort: Effort): string {
  if (EFFORTS.has(effort)) return effort
  throw unusable('Claude Code has no such effort. Choose another one for this session.', effort)
}

/**
 * Our servers in a file of the worker's own, since their environments may hold what no argv may. Null: none are given.
 * @throws WorkerError `private_dir_unsafe`, `private_dir_failed`.
 */
export async function writeMcpFile(
  cfg: Pick<SessionConfig, 'privateDir' | 'mcpServers' | 'workerId'>,
): Promise<string | null> {
  if (cfg.mcpServers.length === 0) return null
  await verifyPrivateDir(cfg.privateDir)
  const path = join(cfg.privateDir, 'mcp.json')
  const servers = cfg.mcpServers.map(({ name, command, args, env }) => [
    name,
    { type: 'stdio', command, args, env: { ...env, [WORKER_MARK]: cfg.workerId } },
  ])
  try {
    await using file = await open(path, 'wx', 0o600)
    await file.writeFile(JSON.stringify({ mcpServers: Object.fromEntries(servers) }))
  } catch (error) {
    await removeMcpFile(path)
    const detail = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new WorkerError('private_dir_failed', 'The list of MCP servers for Claude Code could not be written.', {
      started: 'never',
      detail,
    })
  }
  return path
}

export async function removeMcpFile(path: string | null): Promise<void> {
  if (path !== null) await rm(path, { force: true }).catch(() => undefined)
}
