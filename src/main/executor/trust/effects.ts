/** What a project's settings files would do, by name. Nothing of a value that may be a secret is shown. */
import { parse as parseToml } from 'smol-toml'
import { z } from 'zod'
import type { ProjectEffect } from '../../../shared/trust.ts'

const MAX_NAMES = 20
const MAX_NAME = 160

const Table = z.record(z.string(), z.unknown())
type Table = z.infer<typeof Table>
const Texts = z.array(z.string())

/** Settings of Claude Code that name a program to run. */
const CLAUDE_PROGRAMS = [
  'apiKeyHelper',
  'awsAuthRefresh',
  'awsCredentialExport',
  'gcpAuthRefresh',
  'otelHeadersHelper',
  'statusLine',
  'fileSuggestion',
]
const CODEX_PERMISSIONS = ['approval_policy', 'approvals_reviewer', 'sandbox_mode', 'default_permissions']

/** Null: it is no JSON object. */
export function claudeEffects(text: string): ProjectEffect[] | null {
  const settings = tableOf(parsed(() => JSON.parse(text)))
  if (settings === null) return null
  const { hooks, env, permissions, ...rest } = settings
  const programs = CLAUDE_PROGRAMS.filter((name) => name in rest)
  const others = Object.keys(rest).filter((name) => !programs.includes(name) && name !== '$schema')
  return effects([
    ['hooks', hookNames(hooks)],
    ['programs', programs.map((name) => named(name, commandOf(rest[name])))],
    ['env', Object.keys(tableOf(env) ?? {})],
    ['permissions', permissionNames(permissions)],
    ['other', others],
  ])
}

/** `.mcp.json`. Null: it is no JSON object. */
export function mcpEffects(text: string): ProjectEffect[] | null {
  const file = tableOf(parsed(() => JSON.parse(text)))
  return file === null ? null : effects([['mcp', serverNames(file['mcpServers'])]])
}

/** `.codex/config.toml`. Null: it is no TOML. */
export function codexEffects(text: string): ProjectEffect[] | null {
  const config = tableOf(parsed(() => parseToml(text)))
  if (config === null) return null
  const { hooks, mcp_servers: servers, notify, ...rest } = config
  const permissions = CODEX_PERMISSIONS.filter((name) => name in rest)
  return effects([
    ['hooks', hookNames(hooks)],
    ['mcp', serverNames(servers)],
    ['programs', notify === undefined ? [] : [named('notify', wordsOf(notify))]],
    ['permissions', permissions.map((name) => `${name} ${String(scalarOf(rest[name]))}`)],
    ['other', Object.keys(rest).filter((name) => !permissions.includes(name))],
  ])
}

/** `.codex/hooks.json`. */
export function hookFileEffects(text: string): ProjectEffect[] | null {
  const file = tableOf(parsed(() => JSON.parse(text)))
  return file === null ? null : effects([['hooks', hookNames(file['hooks'] ?? file)]])
}

function effects(all: readonly [ProjectEffect['what'], readonly string[]][]): ProjectEffect[] {
  return all
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => {
      const each = [...new Set(names.map(cut))]
      const more = each.length - MAX_NAMES
      return { what, names: each.slice(0, MAX_NAMES), ...(more > 0 ? { more } : {}) }
    })
}

/** `PreToolUse: ./check.sh`, one for each command. */
function hookNames(hooks: unknown): string[] {
  return Object.entries(tableOf(hooks) ?? {}).flatMap(([event, groups]) => {
    const commands = listOf(groups)
      .flatMap((group) => listOf(tableOf(group)?.['hooks'] ?? group))
      .map((hook) => commandOf(hook))
    return commands.length === 0 ? [event] : commands.map((command) => named(event, command))
  })
}

function serverNames(servers: unknown): string[] {
  return Object.entries(tableOf(servers) ?? {}).map(([name, server]) => {
    const { command, args, url } = tableOf(server) ?? {}
    const program = [command, ...listOf(args)].filter((word) => typeof word === 'string').join(' ')
    return named(name, program === '' ? (typeof url === 'string' ? url : null) : program)
  })
}

function permissionNames(permissions: unknown): string[] {
  const { defaultMode, allow, ask, deny, additionalDirectories } = tableOf(permissions) ?? {}
  const each = (word: string, list: unknown): string[] =>
    (Texts.safeParse(list).data ?? []).map((rule) => `${word} ${rule}`)
  return [
    ...(typeof defaultMode === 'string' ? [`mode ${defaultMode}`] : []),
    ...each('allow', allow),
    ...each('ask', ask),
    ...each('deny', deny),
    ...each('folder', additionalDirectories),
  ]
}

function commandOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  const { command, url, prompt } = tableOf(value) ?? {}
  return [command, url, prompt].map(wordsOf).find((word) => word !== null) ?? null
}

function wordsOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  return Texts.safeParse(value).data?.join(' ') ?? null
}

const scalarOf = (value: unknown): string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : '…'
const named = (name: string, what: string | null): string => (what === null ? name : `${name}: ${what}`)
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const tableOf = (value: unknown): Table | null => {
  const read = Table.safeParse(value)
  return read.success ? read.data : null
}

function cut(name: string): string {
  const chars = Array.from(name.slice(0, MAX_NAME * 2))
  return chars.length > MAX_NAME ? `${chars.slice(0, MAX_NAME - 1).join('')}…` : name
}

function parsed(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return null
  }
}
