/** Words that two systems use are declared here, once. Schemas where the word crosses a trust boundary. */
import { z } from 'zod'
import { FormAnswer, QuestionForm } from './questions.ts'

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** The drivers' agents; `acp:<id>` is a command that a person added. */
export type AgentId = 'builtin' | 'codex' | 'claude' | `acp:${string}`
export const AgentId = z.custom<AgentId>(
  (value) => typeof value === 'string' && /^(?:builtin|codex|claude|acp:[a-z0-9][a-z0-9._-]{0,63})$/.test(value),
  { error: 'an agent is builtin, codex, claude or acp:<id>' },
)

/** Whose model traffic a connection serves; `builtin` takes connections of either protocol. */
export const ClientId = z.enum(['builtin', 'codex', 'claude'])
export type ClientId = z.infer<typeof ClientId>

/** What the machine gateway is called as a Provider of Codex's config; threads made under it keep the name. */
export const GATEWAY_PROVIDER = 'wheelhouse-gateway'

export const ToolKind = z.enum([
  'read',
  'search',
  'think',
  'edit',
  'move',
  'delete',
  'execute',
  'fetch',
  'switch_mode',
  'other',
])
export type ToolKind = z.infer<typeof ToolKind>

/** `default`: say nothing to the agent about it. */
export const Effort = z.enum(['default', 'off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
export type Effort = z.infer<typeof Effort>

/** `connectionId: null` is the agent's own login; `modelId: null` its own default model. */
export const RuntimeChoice = z.strictObject({
  connectionId: z.string().max(64).nullable(),
  modelId: z.string().max(256).nullable(),
  effort: Effort,
})
export type RuntimeChoice = z.infer<typeof RuntimeChoice>

/** What a person lets an agent do: 10-runtime section 7.2. */
export const Mode = z.enum(['plan', 'agent', 'yolo', 'os'])
export type Mode = z.infer<typeof Mode>

/** Who did it. `connection`: the bridge connection's generation, null where there is none. */
export const Actor = z.object({
  via: z.enum(['window', 'browser', 'notification', 'tray', 'cli', 'acp', 'policy', 'recovery', 'agent']),
  connection: z.string().nullable(),
})
export type Actor = z.infer<typeof Actor>

/** Whose answers go to a place: every run's, those of runs that nobody watches, or of schedules that name the place. */
export const TargetRuns = z.enum(['all', 'scheduled', 'named'])
export type TargetRuns = z.infer<typeof TargetRuns>

/** Where a run was asked for; the first four are a person's. */
export const Source = z.enum(['desktop', 'browser', 'cli', 'acp', 'cron', 'channel'])
export type Source = z.infer<typeof Source>

export interface PromptInput {
  path: string
  mediaType: string
  filename: string
  bytes: number
}

export interface Prompt {
  text: string
  inputs: readonly PromptInput[]
  clientMessageId: string
  /** Never read as a slash command or an @file. */
  literal: boolean
}

export const ToolContent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('diff'), path: z.string(), oldText: z.string().nullable(), newText: z.string() }),
  z.object({ type: z.literal('output'), text: z.string(), exitCode: z.number().int().nullable() }),
  z.object({ type: z.literal('blob'), sha256: z.string(), bytes: z.number(), mediaType: z.string() }),
])
export type ToolContent = z.infer<typeof ToolContent>

export const ToolStatus = z.enum(['pending', 'in_progress', 'completed', 'failed', 'declined'])
export type ToolStatus = z.infer<typeof ToolStatus>

export const PlanEntry = z.object({
  content: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed']),
  priority: z.enum(['high', 'medium', 'low']).nullable(),
})
export type PlanEntry = z.infer<typeof PlanEntry>

/** Null: nobody said. Never guessed, never counted from text. `inputTokens` are the uncached ones. */
export const Usage = z.object({
  inputTokens: z.number().nullable(),
  cachedInputTokens: z.number().nullable(),
  cacheWriteTokens: z.number().nullable(),
  outputTokens: z.number().nullable(),
  reasoningTokens: z.number().nullable(),
  contextUsed: z.number().nullable(),
  contextSize: z.number().nullable(),
  costUsd: z.number().nullable(),
})
export type Usage = z.infer<typeof Usage>

export const Risk = z.enum(['low', 'medium', 'high'])
export type Risk = z.infer<typeof Risk>

/** Exact: what the agent will do, registered secrets alone replaced. */
export const PermissionAction = z.discriminatedUnion('kind', [
  /** `command`: the inner script; `wrapper`: what the agent showed round it, such as `/bin/bash -lc`. */
  z.object({ kind: z.literal('command'), command: z.string(), cwd: z.string(), wrapper: z.string().nullable() }),
  z.object({
    kind: z.literal('edit'),
    changes: z.array(z.object({ path: z.string(), oldText: z.string().nullable(), newText: z.string().nullable() })),
  }),
  z.object({ kind: z.literal('mcp'), server: z.string(), tool: z.string(), input: z.string() }),
  z.object({ kind: z.literal('other'), text: z.string() }),
])
export type PermissionAction = z.infer<typeof PermissionAction>

/** What a decision is about: what the agent will do, or what it asks in words. */
export const DecisionAction = z.discriminatedUnion('kind', [
  ...PermissionAction.options,
  z.object({ kind: z.literal('question'), form: QuestionForm }),
])
export type DecisionAction = z.infer<typeof DecisionAction>

export const AnswerOption = z.enum(['allow_once', 'allow_session', 'allow_project', 'reject_once', 'reject_session'])
export type AnswerOption = z.infer<typeof AnswerOption>

/** One vocabulary for window, tray, notification, CLI and ACP. */
export const Answer = z.union([
  z.strictObject({ option: AnswerOption, reason: z.string().max(2_000).optional() }),
  z.strictObject({ text: z.string().max(65_536) }),
  z.strictObject({ form: FormAnswer }),
])
export type Answer = z.infer<typeof Answer>

export const RunState = z.enum([
  'created',
  'queued',
  'running',
  'waiting_for_approval',
  'waiting_for_question',
  'cancelling',
  'terminalizing',
  'completed',
  'incomplete',
  'failed',
  'cancelled',
  'timed_out',
])
export type RunState = z.infer<typeof RunState>

export const TERMINAL_STATES = [
  'completed',
  'incomplete',
  'failed',
  'cancelled',
  'timed_out',
] as const satisfies RunState[]
export type TerminalState = (typeof TERMINAL_STATES)[number]

export function isTerminal(state: RunState): state is TerminalState {
  return (TERMINAL_STATES as readonly RunState[]).includes(state)
}

export const SideEffects = z.enum(['none', 'read_only', 'mutating', 'unknown'])
export type SideEffects = z.infer<typeof SideEffects>

/** A durable write's honest answer. `applied && !durable` is a success with a warning. */
export interface PersistOutcome {
  applied: boolean
  durable: boolean
}
