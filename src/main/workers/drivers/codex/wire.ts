/** The app-server's messages, as far as they are read. Everything else of them is dropped unread. */
import { z } from 'zod'
import { isObject } from '../shared/is-object.ts'
import { FileChanges } from './file-change.ts'

export const ThreadReply = z.object({
  thread: z.object({ id: z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/), cliVersion: z.string().default('') }),
  model: z.string(),
  reasoningEffort: z.string().nullish(),
  cwd: z.string(),
  approvalPolicy: z.unknown().optional(),
  approvalsReviewer: z.string(),
  sandbox: z.looseObject({ type: z.string() }),
})
export type ThreadReply = z.infer<typeof ThreadReply>

export const AccountReply = z.object({
  account: z.looseObject({ type: z.string() }).nullable(),
  requiresOpenaiAuth: z.boolean(),
})

export const McpStatusReply = z.object({
  data: z.array(z.object({ name: z.string(), runtimeStatus: z.string().nullish() })),
  nextCursor: z.string().nullish(),
})

export const TurnReply = z.object({ turn: z.object({ id: z.string() }) })

export const SettingsNote = z.object({
  threadId: z.string(),
  threadSettings: z.object({
    cwd: z.string(),
    approvalPolicy: z.unknown().optional(),
    approvalsReviewer: z.string(),
    sandboxPolicy: z.looseObject({ type: z.string() }),
    model: z.string().nullish(),
    effort: z.string().nullish(),
  }),
})

const ErrorInfo = z.union([z.string(), z.record(z.string(), z.unknown())])
export const TurnFailure = z.object({ message: z.string(), codexErrorInfo: ErrorInfo.nullish() })
export type TurnFailure = z.infer<typeof TurnFailure>

export const TurnNote = z.object({
  threadId: z.string(),
  turn: z.object({
    id: z.string(),
    /** A sub-agent's turn names the one that it works for. */
    rootTurnId: z.string().nullish(),
    status: z.string(),
    error: TurnFailure.nullish(),
  }),
})
export type TurnNote = z.infer<typeof TurnNote>

export const ErrorNote = z.object({
  threadId: z.string(),
  turnId: z.string(),
  willRetry: z.boolean(),
  error: TurnFailure,
})

const Tokens = z.object({
  totalTokens: z.number(),
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  cacheWriteInputTokens: z.number().default(0),
  outputTokens: z.number(),
  reasoningOutputTokens: z.number(),
})
export type Tokens = z.infer<typeof Tokens>
export const UsageNote = z.object({
  threadId: z.string(),
  turnId: z.string(),
  tokenUsage: z.object({ total: Tokens, last: Tokens, modelContextWindow: z.number().nullish() }),
})

export const PlanNote = z.object({
  threadId: z.string(),
  plan: z.array(z.object({ step: z.string(), status: z.enum(['pending', 'inProgress', 'completed']) })),
})

export const NameNote = z.object({ threadId: z.string(), threadName: z.string().optional() })

export const ResolvedNote = z.object({ threadId: z.string(), requestId: z.union([z.string(), z.number()]) })

/** Hot path: one of these for every few characters of a model's answer. */
export interface Delta {
  threadId: string
  turnId: string
  itemId: string
  delta: string
}
export function readDelta(params: unknown): Delta | null {
  if (!isObject(params)) return null
  const { threadId, turnId, itemId, delta } = params
  if (typeof threadId !== 'string' || typeof turnId !== 'string') return null
  return typeof itemId === 'string' && typeof delta === 'string' ? { threadId, turnId, itemId, delta } : null
}

const callStatus = z.enum(['inProgress', 'completed', 'failed', 'declined'])
const ID_CHARS = 4_096
const id = z.string().max(ID_CHARS)
export const Item = z.discriminatedUnion('type', [
  z.object({ type: z.literal('agentMessage'), id, text: z.string() }),
  z.object({ type: z.literal('plan'), id, text: z.string() }),
  z.object({ type: z.literal('reasoning'), id, summary: z.array(z.string()) }),
  z.object({
    type: z.literal('commandExecution'),
    id,
    command: z.string(),
    cwd: z.string(),
    status: callStatus,
    aggregatedOutput: z.string().nullish(),
    exitCode: z.number().int().nullish(),
  }),
  z.object({ type: z.literal('fileChange'), id, changes: FileChanges, status: callStatus }),
  z.object({
    type: z.literal('mcpToolCall'),
    id,
    server: z.string(),
    tool: z.string(),
    status: callStatus,
    arguments: z.unknown().optional(),
    result: z.object({ content: z.array(z.unknown()) }).nullish(),
    error: z.object({ message: z.string() }).nullish(),
  }),
  z.object({
    type: z.literal('webSearch'),
    id,
    query: z.string(),
    action: z.looseObject({ type: z.string() }).nullish(),
  }),
  z.object({ type: z.literal('imageView'), id, path: z.string() }),
  z.object({
    type: z.literal('collabAgentToolCall'),
    id,
    tool: z.string(),
    status: z.string(),
    receiverThreadIds: z.array(z.string()).default([]),
  }),
  z.object({ type: z.literal('contextCompaction'), id }),
])
export type Item = z.infer<typeof Item>

export interface ItemNote {
  threadId: string
  turnId: string
  item: Item
}

/** Null: not of the form of an item, or an item that is not read. */
export function readItem(params: unknown): ItemNote | null {
  if (!isObject(params)) return null
  const { threadId, turnId, item: given } = params
  if (typeof threadId !== 'string' || typeof turnId !== 'string' || !isObject(given)) return null
  const item = plainCommand(given) ?? Item.safeParse(given).data
  return item === undefined ? null : { threadId, turnId, item }
}

/** Hot path: a command that begins, as `Item` would read it. Null for anything else: the schema judges it. */
export function plainCommand(given: Readonly<Record<string, unknown>>): Item | null {
  const { type, id: itemId, command, cwd, status, aggregatedOutput: output, exitCode } = given
  if (type !== 'commandExecution' || status !== 'inProgress') return null
  if (typeof itemId !== 'string' || itemId.length > ID_CHARS) return null
  if (typeof command !== 'string' || typeof cwd !== 'string') return null
  if ((output ?? null) !== null || (exitCode ?? null) !== null) return null
  return { type, id: itemId, command, cwd, status }
}

/** The one thing that every question about a tool names. */
export const Named = z.object({ itemId: id })

export type CommandQuestion = z.infer<typeof CommandQuestion>
export const CommandQuestion = z.object({
  kind: z.string().default('command'),
  threadId: z.string(),
  itemId: id,
  command: z.string().nullish(),
  cwd: z.string().nullish(),
  reason: z.string().nullish(),
  networkApprovalContext: z.unknown().optional(),
  additionalPermissions: z.unknown().optional(),
  availableDecisions: z.array(z.unknown()).nullish(),
})
export const FileChangeQuestion = z.object({ threadId: z.string(), itemId: id, grantRoot: z.string().nullish() })
export const Elicitation = z.object({
  threadId: z.string(),
  serverName: z.string(),
  mode: z.string(),
  _meta: z
    .looseObject({
      codex_approval_kind: z.string().optional(),
      tool_name: z.string().optional(),
      tool_params: z.unknown().optional(),
    })
    .nullish(),
})
export type Elicitation = z.infer<typeof Elicitation>
export const PermissionsQuestion = z.object({
  threadId: z.string(),
  itemId: id,
  permissions: z.record(z.string(), z.unknown()),
})
export const UserInputQuestion = z.object({
  threadId: z.string(),
  itemId: id,
  questions: z.array(
    z.object({
      id: z.string().min(1),
      header: z.string().default(''),
      question: z.string().default(''),
      isOther: z.boolean().default(false),
      isSecret: z.boolean().default(false),
      options: z.array(z.object({ label: z.string(), description: z.string().default('') })).nullish(),
    }),
  ),
})
export type UserInputQuestion = z.infer<typeof UserInputQuestion>
