/** What an agent's item is to a person: a tool with a title, its paths, and what came of it. */
import { assertNever } from '../../../../shared/errors.ts'
import type { ToolContent, ToolKind, ToolStatus } from '../../../../shared/vocabulary.ts'
import { unwrapCommand } from './command-text.ts'
import { changeKind, changedPaths, diffContent } from './file-change.ts'
import type { Item } from './wire.ts'

export type ToolItem = Exclude<Item, { type: 'agentMessage' | 'plan' | 'reasoning' }>

export interface ToolView {
  tool: ToolKind
  /** Codex names its own tools by the item's type. */
  name: string
  title: string
  paths: string[]
  status: ToolStatus
  content: ToolContent[]
}

export function toolView(item: ToolItem, finished: boolean): ToolView {
  switch (item.type) {
    case 'commandExecution':
      return {
        tool: 'execute',
        name: item.type,
        title: unwrapCommand(item.command).command,
        paths: [],
        status: statusOf(item.status),
        content: outputContent(item.aggregatedOutput ?? '', item.exitCode ?? null),
      }
    case 'fileChange': {
      const paths = changedPaths(item.changes)
      return {
        tool: changeKind(item.changes),
        name: item.type,
        title: paths.length === 1 ? `Edit ${paths[0]}` : `Edit ${paths.length} files`,
        paths,
        status: statusOf(item.status),
        content: diffContent(item.changes),
      }
    }
    case 'mcpToolCall':
      return {
        tool: 'other',
        name: mcpToolName(item.server, item.tool),
        title: `${item.server}: ${item.tool}`,
        paths: [],
        status: statusOf(item.status),
        content: mcpContent(item),
      }
    case 'webSearch':
      return {
        tool: item.action?.type === 'openPage' ? 'fetch' : 'search',
        name: item.type,
        title: item.query === '' ? 'Search the web' : item.query,
        paths: [],
        status: finished ? 'completed' : 'in_progress',
        content: [],
      }
    case 'imageView':
      return {
        tool: 'read',
        name: item.type,
        title: `View ${item.path}`,
        paths: [item.path],
        status: finished ? 'completed' : 'in_progress',
        content: [],
      }
    case 'collabAgentToolCall':
      return {
        tool: 'other',
        name: item.tool,
        title: item.tool,
        paths: [],
        status: item.status === 'failed' ? 'failed' : finished ? 'completed' : 'in_progress',
        content: [],
      }
    case 'contextCompaction':
      return {
        tool: 'think',
        name: item.type,
        title: 'Summarize the conversation so far',
        paths: [],
        status: finished ? 'completed' : 'in_progress',
        content: [],
      }
    default:
      return assertNever(item)
  }
}

export function mcpToolName(server: string, tool: string): string {
  return `mcp__${server}__${tool}`
}

export function outputContent(text: string, exitCode: number | null): ToolContent[] {
  return text === '' && exitCode === null ? [] : [{ type: 'output', text, exitCode }]
}

function mcpContent(item: Extract<Item, { type: 'mcpToolCall' }>): ToolContent[] {
  if (typeof item.error?.message === 'string') return [{ type: 'text', text: item.error.message }]
  return (item.result?.content ?? []).map((part) => ({ type: 'text', text: textOf(part) }))
}

function textOf(part: unknown): string {
  if (typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string') return part.text
  return JSON.stringify(part) ?? ''
}

/** Codex calls an item in progress before it asks whether it may begin: nothing has happened yet. */
function statusOf(status: 'inProgress' | 'completed' | 'failed' | 'declined'): ToolStatus {
  return status === 'inProgress' ? 'pending' : status
}
