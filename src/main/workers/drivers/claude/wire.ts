/** Claude Code's lines, as far as they are read. Everything else of them is dropped unread. */
import { z } from 'zod'
import { isObject } from '../shared/is-object.ts'

const ID_CHARS = 4_096
const id = z.string().max(ID_CHARS)

export const Init = z.object({
  session_id: z.string(),
  tools: z.array(z.string()),
  mcp_servers: z.array(z.object({ name: z.string(), status: z.string() })),
  model: z.string(),
  permissionMode: z.string(),
  claude_code_version: z.string().default(''),
})
export type Init = z.infer<typeof Init>

export const Status = z.object({ permissionMode: z.string().optional() })

export const ApiRetry = z.object({
  attempt: z.number().int(),
  max_retries: z.number().int().nullish(),
  retry_delay_ms: z.number().nonnegative().default(0),
  error_status: z.number().int().nullish(),
})

export const PermissionDenied = z.object({ tool_name: z.string(), tool_use_id: id })

export const Initialized = z.object({
  commands: z.array(z.object({ name: z.string(), description: z.string().default('') })).default([]),
})

export const McpStatus = z.object({ mcpServers: z.array(z.object({ name: z.string(), status: z.string() })) })

export const CanUseTool = z.object({
  tool_name: z.string(),
  input: z.record(z.string(), z.unknown()),
  tool_use_id: id,
})

export const HookCallback = z.object({
  callback_id: z.string(),
  input: z.looseObject({ cwd: z.string().optional() }),
  tool_use_id: id.nullish(),
})

export type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; toolCallId: string; content: unknown; failed: boolean }

/** Hot path, by hand. Null: a kind that is not read, or one of another form than it should have. */
export function readBlock(block: unknown): Block | null {
  if (!isObject(block)) return null
  const { type } = block
  switch (type) {
    case 'text': {
      const { text } = block
      return typeof text === 'string' ? { type, text } : null
    }
    case 'thinking': {
      const { thinking } = block
      return typeof thinking === 'string' ? { type, thinking } : null
    }
    case 'tool_use': {
      const { id: callId, name, input } = block
      return isId(callId) && typeof name === 'string' ? { type, id: callId, name, input } : null
    }
    case 'tool_result': {
      const { tool_use_id: toolCallId, content, is_error: failed } = block
      return isId(toolCallId) ? { type, toolCallId, content, failed: failed === true } : null
    }
    default:
      return null
  }
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= ID_CHARS
}

export interface AssistantLine {
  id: string
  blocks: readonly unknown[]
  /** Of the main conversation, and no sub-agent's. */
  own: boolean
  /** The program made this message up, to say how a model request failed. */
  error: string | null
}

/** Hot path, by hand. Null: not of the form of a message. */
export function readAssistant(line: Readonly<Record<string, unknown>>): AssistantLine | null {
  const { message, parent_tool_use_id: parent, error } = line
  if (!isObject(message)) return null
  const { id: messageId, content } = message
  if (typeof messageId !== 'string' || !Array.isArray(content)) return null
  const own = parent === null || parent === undefined
  return { id: messageId, blocks: content, own, error: typeof error === 'string' ? error : null }
}

export const User = z.object({
  message: z.object({ content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]) }),
})

const tokens = z.number().nonnegative().nullish()
export const Counts = z.object({
  input_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens,
  output_tokens: tokens,
})
export type Counts = z.infer<typeof Counts>

export const Result = z.object({
  subtype: z.string(),
  is_error: z.boolean().default(false),
  api_error_status: z.number().int().nullish(),
  num_turns: z.number().default(0),
  result: z.string().nullish(),
  stop_reason: z.string().nullish(),
  terminal_reason: z.string().nullish(),
  total_cost_usd: z.number().nullish(),
  usage: Counts.nullish(),
  modelUsage: z.record(z.string(), z.object({ contextWindow: z.number().nullish() })).nullish(),
  permission_denials: z.array(PermissionDenied).nullish(),
  errors: z.array(z.string()).nullish(),
})
export type Result = z.infer<typeof Result>

/** Hot path: one of these for every few characters of a model's answer. Sub-agents' are null. */
export interface StreamEvent {
  type: string
  messageId: string | null
  index: number
  text: string | null
  thinking: string | null
  usage: unknown
}

export function readStreamEvent(line: Readonly<Record<string, unknown>>): StreamEvent | null {
  const { event, parent_tool_use_id: parent } = line
  if (!isObject(event) || (parent !== null && parent !== undefined)) return null
  const { type, message, delta, index, usage } = event
  if (typeof type !== 'string') return null
  const of = isObject(delta) ? delta : {}
  return {
    type,
    messageId: isObject(message) && typeof message['id'] === 'string' ? message['id'] : null,
    index: typeof index === 'number' ? index : 0,
    text: of['type'] === 'text_delta' && typeof of['text'] === 'string' ? of['text'] : null,
    thinking: of['type'] === 'thinking_delta' && typeof of['thinking'] === 'string' ? of['thinking'] : null,
    usage: usage ?? (isObject(message) ? message['usage'] : undefined),
  }
}
