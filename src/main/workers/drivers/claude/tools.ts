/** Claude Code's own tools: what each one is, which of them a session may have, and how a call of one is shown. */
import { z } from 'zod'
import type { ToolContent, ToolKind } from '../../../../shared/vocabulary.ts'
import type { PermissionMode, SessionConfig } from '../../types.ts'
import { trustedName } from '../shared/content-channel.ts'
import { isObject } from '../shared/is-object.ts'
import { mcpServerOf } from '../shared/permission-gate.ts'

const KINDS: Readonly<Record<string, ToolKind>> = {
  Read: 'read',
  TaskOutput: 'read',
  ListMcpResourcesTool: 'read',
  ReadMcpResourceTool: 'read',
  ReadMcpResourceDirTool: 'read',
  Glob: 'search',
  Grep: 'search',
  ToolSearch: 'search',
  TaskCreate: 'think',
  TaskGet: 'think',
  TaskList: 'think',
  TaskUpdate: 'think',
  Edit: 'edit',
  Write: 'edit',
  NotebookEdit: 'edit',
  Bash: 'execute',
  TaskStop: 'execute',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
}

/** Asked for by name. Glob and Grep are there only when named. */
const READING = ['Read', 'TaskOutput', 'Glob', 'Grep', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate'] as const
const WORKING = ['Edit', 'Write', 'NotebookEdit', 'Bash', 'TaskStop', 'WebFetch', 'WebSearch'] as const
/** Asks the person in words; only where somebody takes its questions. */
export const ASK_TOOL = 'AskUserQuestion'
/** The person's own set-up: sub-agents and skills. */
const USERS_OWN = ['Task', 'Skill'] as const
/** Come by themselves where MCP servers need them. */
const WITH_MCP = ['ToolSearch', 'ListMcpResourcesTool', 'ReadMcpResourceTool', 'ReadMcpResourceDirTool'] as const

/** What a session's `--tools` names: a list of what is known, so that a tool nobody here has heard of is never there. */
export function toolList(
  mode: PermissionMode,
  { mcp, interactions }: Pick<SessionConfig, 'mcp' | 'interactions'>,
): string[] {
  const asking = interactions === undefined ? [] : [ASK_TOOL]
  if (mode === 'read_only') return [...READING, ...asking]
  return [...READING, ...WORKING, ...asking, ...(mcp === 'with_users_own' ? USERS_OWN : [])]
}

/** The first built-in tool of this list that a session must not have; null: there is none. */
export function foreignTool(tools: readonly string[], allowed: readonly string[]): string | null {
  const known = new Set<string>([...allowed, ...WITH_MCP])
  return tools.find((tool) => !tool.startsWith('mcp__') && !known.has(tool)) ?? null
}

export function toolKind(name: string): ToolKind {
  return KINDS[name] ?? 'other'
}

const INPUT_FIELDS = [
  'command',
  'file_path',
  'notebook_path',
  'path',
  'pattern',
  'old_string',
  'new_string',
  'content',
  'url',
  'query',
  'description',
  'subject',
] as const
export type ToolInput = { [F in (typeof INPUT_FIELDS)[number]]?: string }

/** Hot path, by hand. Nothing, once a field is of another form than expected: what is shown then is the input as it stands. */
export function readInput(input: unknown): ToolInput {
  const read: ToolInput = {}
  if (!isObject(input)) return read
  for (const field of INPUT_FIELDS) {
    const value = input[field]
    if (value === undefined) continue
    if (typeof value !== 'string') return {}
    read[field] = value
  }
  return read
}

export interface ToolView {
  kind: ToolKind
  name: string | null
  title: string
  paths: string[]
  /** What the call will change, where it says so itself. */
  content: ToolContent[]
}

export function toolView(name: string, input: unknown): ToolView {
  const given = readInput(input)
  const paths = pathsOf(given)
  return { kind: toolKind(name), name: trustedName(name), title: titleOf(name, given), paths, content: diffOf(given) }
}

export function pathsOf({ file_path: file, notebook_path: notebook, path }: ToolInput): string[] {
  const paths: string[] = []
  for (const each of [file, notebook, path]) if (each !== undefined && each !== '') paths.push(each)
  return paths
}

function diffOf({ file_path: path, old_string: oldText, new_string: newText, content }: ToolInput): ToolContent[] {
  if (path === undefined) return []
  if (oldText !== undefined && newText !== undefined) return [{ type: 'diff', path, oldText, newText }]
  return content === undefined ? [] : [{ type: 'diff', path, oldText: null, newText: content }]
}

function titleOf(name: string, given: ToolInput): string {
  switch (name) {
    case 'Bash':
      return given.command ?? name
    case 'Glob':
    case 'Grep':
      return given.pattern === undefined ? name : `Search for ${given.pattern}`
    case 'WebFetch':
      return given.url === undefined ? name : `Fetch ${given.url}`
    case 'WebSearch':
      return given.query === undefined ? name : `Search the web for ${given.query}`
    case 'Task':
    case 'Agent':
      return given.description === undefined ? name : `Sub-agent: ${given.description}`
    default: {
      const server = mcpServerOf(trustedName(name))
      if (server !== null) return `${server}: ${name.slice(`mcp__${server}__`.length)}`
      const [path] = pathsOf(given)
      if (path !== undefined) return `${name} ${path}`
      return given.subject === undefined ? name : `${name}: ${given.subject}`
    }
  }
}

const TextPart = z.object({ type: z.literal('text'), text: z.string() })

/** What a call came to. A command's exit code stands in its text alone, and only when it failed. */
export function resultContent(kind: ToolKind, content: unknown, failed: boolean): ToolContent[] {
  const text = resultText(content)
  if (kind !== 'execute') return text === '' ? [] : [{ type: 'text', text }]
  const [whole, code] = failed ? (/^Exit code (\d{1,3})(?:\n|$)/.exec(text) ?? []) : []
  const exitCode = code === undefined ? (failed ? null : 0) : Number(code)
  return [{ type: 'output', text: whole === undefined ? text : text.slice(whole.length), exitCode }]
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((part: unknown) => {
      const read = TextPart.safeParse(part)
      return read.success ? [read.data.text] : []
    })
    .join('\n')
}
