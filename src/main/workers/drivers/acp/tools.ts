/** What the agent said of its tool calls so far: updates carry only what changed. */
import type { ToolContent, ToolKind, ToolStatus } from '../../../../shared/vocabulary.ts'
import type { Limits } from '../../limits.ts'
import type { ContentBody } from '../../types.ts'
import { isObject } from '../shared/is-object.ts'
import { createNewest } from '../shared/newest.ts'
import type { ToolCall, ToolCallContent } from './wire.ts'

export interface KnownTool {
  kind: ToolKind
  name: string | null
  title: string
  status: ToolStatus
  paths: readonly string[]
  content: readonly ToolCallContent[]
  rawInput: unknown
  rawOutput: unknown
  meta: Readonly<Record<string, unknown>>
  /** By the person. */
  refused: boolean
}

export interface ToolCalls {
  /** Takes in a call, an update, or the call that a permission names. */
  merge(call: ToolCall): { tool: KnownTool; first: boolean }
  /** Refused by the person: what the agent calls failed is shown as declined. */
  declined(toolCallId: string): void
  body(toolCallId: string, tool: KnownTool, first: boolean): ContentBody
}

export function createToolCalls(limits: Pick<Limits, 'toolCalls' | 'toolCallChars'>): ToolCalls {
  const known = createNewest<KnownTool>({ count: limits.toolCalls, total: limits.toolCallChars })

  return {
    merge(call) {
      const before = known.get(call.toolCallId)
      const tool: KnownTool = {
        kind: call.kind ?? before?.kind ?? 'other',
        name: call.name ?? claudeName(call) ?? before?.name ?? null,
        title: call.title ?? before?.title ?? '',
        status: call.status ?? before?.status ?? 'pending',
        paths: call.locations?.map(({ path }) => path) ?? before?.paths ?? [],
        content: call.content ?? before?.content ?? [],
        rawInput: call.rawInput ?? before?.rawInput,
        rawOutput: call.rawOutput ?? before?.rawOutput,
        meta: isObject(call._meta) ? { ...before?.meta, ...call._meta } : (before?.meta ?? NOTHING),
        refused: before?.refused ?? false,
      }
      known.set(call.toolCallId, tool, charsOf(tool))
      return { tool, first: before === undefined }
    },
    declined(toolCallId) {
      const tool = known.get(toolCallId)
      if (tool !== undefined) tool.refused = true
    },
    body(toolCallId, tool, first) {
      const status = tool.status === 'failed' && tool.refused ? 'declined' : tool.status
      const finished = status === 'completed' || status === 'failed' || status === 'declined'
      return {
        kind: 'tool',
        toolCallId,
        phase: finished ? 'finished' : first ? 'started' : 'updated',
        tool: tool.kind,
        name: tool.name,
        title: tool.title,
        status,
        paths: tool.paths,
        content: contentOf(tool),
      }
    },
  }
}

const NOTHING: KnownTool['meta'] = {}
/** Of what is no text: a number, or what holds a list or an object together. */
const PART_CHARS = 16

/** How much of it is kept: its texts, and something for each of its parts. Found without the call stack, however deep it is. */
function charsOf(tool: KnownTool): number {
  let chars = 0
  const open: unknown[] = [tool]
  while (open.length > 0) {
    const part = open.pop()
    if (typeof part === 'string') chars += part.length
    else chars += PART_CHARS
    if (Array.isArray(part)) for (const each of part) open.push(each)
    else if (isObject(part)) for (const key in part) open.push(key, part[key])
  }
  return chars
}

/** claude-agent-acp names its tool there. */
function claudeName(call: ToolCall): string | undefined {
  const meta = call._meta?.['claudeCode']
  const name = isObject(meta) ? meta['toolName'] : undefined
  return typeof name === 'string' ? name : undefined
}

function contentOf(tool: KnownTool): ToolContent[] {
  const exitCode = exitCodeOf(tool.rawOutput)
  const parts: ToolContent[] = []
  for (const part of tool.content) {
    if (part.type === 'diff' && 'newText' in part) {
      parts.push({ type: 'diff', path: part.path, oldText: part.oldText ?? null, newText: part.newText })
    } else if (part.type === 'content' && 'content' in part && 'text' in part.content) {
      const { text } = part.content
      parts.push(tool.kind === 'execute' ? { type: 'output', text, exitCode } : { type: 'text', text })
    }
  }
  if (parts.length === 0 && typeof tool.rawOutput === 'string' && tool.rawOutput !== '') {
    const text = tool.rawOutput
    parts.push(tool.kind === 'execute' ? { type: 'output', text, exitCode } : { type: 'text', text })
  }
  return parts
}

function exitCodeOf(rawOutput: unknown): number | null {
  if (!isObject(rawOutput)) return null
  const code = rawOutput['exitCode'] ?? rawOutput['exit_code']
  return typeof code === 'number' && Number.isInteger(code) ? code : null
}
