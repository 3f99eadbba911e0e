/** The part of ACP v1 that an agent may send, parsed where it enters. What is unknown passes unread; strings are bounded. */
import { z } from 'zod'
import { ToolKind } from '../../../../shared/vocabulary.ts'
import { isObject } from '../shared/is-object.ts'

/** The stable protocol. The SDK serves the built-in agent's side; here its types and its dispatch are not needed. */
export const PROTOCOL_VERSION = 1

const Loose = z.unknown().optional()
const Count = z.number().nonnegative()
const flag = z.unknown().transform((value) => value !== undefined && value !== null && value !== false)

export const SessionId = z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/)

export const Initialized = z.object({
  protocolVersion: z.number(),
  agentInfo: z.object({ name: z.string().max(200), version: z.string().max(200) }).nullish(),
  agentCapabilities: z
    .object({
      loadSession: z.boolean().optional(),
      promptCapabilities: z.object({ image: z.boolean().optional() }).nullish(),
      sessionCapabilities: z.object({ resume: flag, fork: flag, additionalDirectories: flag }).partial().nullish(),
    })
    .nullish(),
})
export type Initialized = z.infer<typeof Initialized>

const ModeId = z.string().min(1).max(256)
const Modes = z.object({ currentModeId: ModeId, availableModes: z.array(z.object({ id: ModeId })).max(256) })

const SelectValue = z.object({ value: ModeId })
const SelectGroup = z.object({ options: z.array(SelectValue).max(256) })
export const ConfigOption = z.object({
  id: z.string().min(1).max(256),
  type: z.string().max(64).optional(),
  category: z.string().max(64).nullish(),
  currentValue: Loose,
  options: z
    .array(z.union([SelectValue, SelectGroup]))
    .max(256)
    .optional()
    .catch(undefined),
})
export type ConfigOption = z.infer<typeof ConfigOption>
export const ConfigOptions = z.object({ configOptions: z.array(ConfigOption).max(256) })

export const SessionState = z.object({
  modes: Modes.nullish(),
  configOptions: z.array(ConfigOption).max(256).nullish(),
})
export type SessionState = z.infer<typeof SessionState>
export const NewSession = SessionState.extend({ sessionId: SessionId })

const Text = z.object({ type: z.literal('text'), text: z.string() })
export const ContentBlock = z.union([Text, z.object({ type: z.string().max(64) })])

const ToolCallContent = z.union([
  z.object({ type: z.literal('content'), content: ContentBlock }),
  z.object({ type: z.literal('diff'), path: z.string(), oldText: z.string().nullish(), newText: z.string() }),
  z.object({ type: z.string().max(64) }),
])
export type ToolCallContent = z.infer<typeof ToolCallContent>

const wireStatus = z.enum(['pending', 'in_progress', 'completed', 'failed'])
/** A tool call and its update have one form here: all but the id may be absent. */
export const ToolCall = z.object({
  toolCallId: z.string().min(1).max(16_384),
  title: z.string().nullish(),
  name: z.string().max(1_024).nullish(),
  kind: ToolKind.nullish().catch('other'),
  status: wireStatus.nullish(),
  content: z.array(ToolCallContent).nullish(),
  locations: z.array(z.object({ path: z.string() })).nullish(),
  rawInput: Loose,
  rawOutput: Loose,
  _meta: z.record(z.string(), Loose).nullish().catch(null),
})
export type ToolCall = z.infer<typeof ToolCall>

const Chunk = { content: ContentBlock, messageId: z.string().max(1_024).nullish() }
export const SessionUpdate = z.discriminatedUnion('sessionUpdate', [
  z.object({ sessionUpdate: z.literal('user_message_chunk'), ...Chunk }),
  z.object({ sessionUpdate: z.literal('agent_message_chunk'), ...Chunk }),
  z.object({ sessionUpdate: z.literal('agent_thought_chunk'), ...Chunk }),
  ToolCall.extend({ sessionUpdate: z.literal('tool_call') }),
  ToolCall.extend({ sessionUpdate: z.literal('tool_call_update') }),
  z.object({
    sessionUpdate: z.literal('plan'),
    entries: z
      .array(
        z.object({
          content: z.string().max(65_536),
          status: z.enum(['pending', 'in_progress', 'completed']),
          priority: z.enum(['high', 'medium', 'low']).nullish().catch(null),
        }),
      )
      .max(1_024),
  }),
  z.object({
    sessionUpdate: z.literal('available_commands_update'),
    availableCommands: z
      .array(z.object({ name: z.string().max(256), description: z.string().max(4_096).catch('') }))
      .max(1_024),
  }),
  z.object({ sessionUpdate: z.literal('current_mode_update'), currentModeId: ModeId }),
  z.object({ sessionUpdate: z.literal('config_option_update'), configOptions: z.array(ConfigOption).max(256) }),
  z.object({ sessionUpdate: z.literal('session_info_update'), title: z.string().nullish() }),
  z.object({
    sessionUpdate: z.literal('usage_update'),
    used: Count,
    size: Count.nullish(),
    cost: z
      .object({ amount: Count, currency: z.string().max(16) })
      .nullish()
      .catch(null),
  }),
])
export type SessionUpdate = z.infer<typeof SessionUpdate>
const KNOWN_UPDATES: ReadonlySet<string> = new Set(
  SessionUpdate.options.map((option) => option.shape.sessionUpdate.value),
)

/** `unknown`: a kind of a later protocol, which passes. `invalid`: one we know, in a form we cannot read. */
export function readUpdate(params: unknown): { sessionId: string; update: SessionUpdate } | 'unknown' | 'invalid' {
  if (!isObject(params)) return 'invalid'
  const { sessionId, update } = params
  if (!isText(sessionId, 1_024) || !isObject(update) || typeof update['sessionUpdate'] !== 'string') return 'invalid'
  const kind = update['sessionUpdate']
  if (!KNOWN_UPDATES.has(kind)) return 'unknown'
  const plain = plainUpdate(kind, update)
  if (plain !== null) return { sessionId, update: plain }
  const read = SessionUpdate.safeParse(update)
  return read.success ? { sessionId, update: read.data } : 'invalid'
}

/**
 * Hot path: text, and a tool call of the simplest form, as `SessionUpdate` would read them. Null for anything else, the
 * malformed included: the schema judges it.
 */
export function plainUpdate(kind: string, update: Readonly<Record<string, unknown>>): SessionUpdate | null {
  switch (kind) {
    case 'user_message_chunk':
    case 'agent_message_chunk':
    case 'agent_thought_chunk': {
      const { content, messageId } = update
      if (!isObject(content) || content['type'] !== 'text' || !isMaybe(messageId, isId)) return null
      const { text } = content
      return typeof text === 'string' ? { sessionUpdate: kind, content: { type: 'text', text }, messageId } : null
    }
    case 'tool_call':
    case 'tool_call_update': {
      const { toolCallId, title, name, kind: tool, status, content, locations, rawInput, rawOutput, _meta } = update
      if (!isText(toolCallId, 16_384) || toolCallId === '') return null
      if (!isMaybe(title, isString) || !isMaybe(name, isId) || !isMaybe(tool, isToolKind)) return null
      if (!isMaybe(status, isStatus) || !isNothing(content) || !isNothing(locations) || !isNothing(_meta)) return null
      const told = { toolCallId, title, name, kind: tool, status, content, locations, rawInput, rawOutput, _meta }
      return { sessionUpdate: kind, ...told }
    }
    default:
      return null
  }
}

const isNothing = (value: unknown): value is null | undefined => value === null || value === undefined
const isMaybe = <T>(value: unknown, is: (some: unknown) => some is T): value is T | null | undefined =>
  isNothing(value) || is(value)
const isString = (value: unknown): value is string => typeof value === 'string'
const isText = (value: unknown, most: number): value is string => isString(value) && value.length <= most
const isId = (value: unknown): value is string => isText(value, 1_024)
const toolKinds: ReadonlySet<unknown> = new Set(ToolKind.options)
const isToolKind = (value: unknown): value is ToolKind => toolKinds.has(value)
const statuses: ReadonlySet<unknown> = new Set(wireStatus.options)
const isStatus = (value: unknown): value is z.infer<typeof wireStatus> => statuses.has(value)

export const PermissionParams = z.object({
  sessionId: z.string().max(1_024),
  toolCall: ToolCall,
  options: z
    .array(
      z.object({
        optionId: z.string().max(1_024),
        kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']).or(z.string().max(64)),
      }),
    )
    .max(1_024),
})
export type PermissionParams = z.infer<typeof PermissionParams>

export const Elicitation = z.object({ sessionId: z.string().max(1_024), mode: z.string().max(64) })

export const CancelRequest = z.object({ requestId: z.union([z.string(), z.number()]) })

export const PromptReply = z.object({
  stopReason: z.string().max(256),
  usage: z
    .object({
      inputTokens: Count.nullish(),
      outputTokens: Count.nullish(),
      cachedReadTokens: Count.nullish(),
      cachedWriteTokens: Count.nullish(),
      thoughtTokens: Count.nullish(),
    })
    .nullish()
    .catch(null),
})
export type PromptReply = z.infer<typeof PromptReply>

/** What an agent may tell of a failed model request; the built-in one does. */
export const FailureData = z.object({
  httpStatus: z.number().int().nullish().catch(null),
  code: z.string().max(200).nullish().catch(null),
  requestId: z.string().max(200).nullish().catch(null),
  retryAfterMs: Count.nullish().catch(null),
  reason: z.string().max(200).nullish().catch(null),
})

/** An agent that names the MCP server for which it did not open a session; the built-in one does. */
export const FailedServer = z.object({
  code: z.literal('mcp_server_unavailable'),
  server: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
})
