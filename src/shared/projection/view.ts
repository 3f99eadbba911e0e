import { z } from 'zod'
import { ArtifactFacts, ErrorInfo, InputFacts } from '../events.ts'
import {
  Actor,
  Answer,
  AnswerOption,
  Mode,
  DecisionAction,
  PlanEntry,
  Risk,
  RunState,
  SideEffects,
  Source,
  ToolContent,
  ToolKind,
  ToolStatus,
  Usage,
} from '../vocabulary.ts'

export const DecisionItem = z.object({
  decisionId: z.string(),
  kind: z.enum(['approval', 'question']),
  toolCallId: z.string(),
  tool: z.string(),
  toolKind: ToolKind,
  title: z.string(),
  action: DecisionAction,
  /** False: the action was cut, and is judged as high risk. */
  complete: z.boolean(),
  /** Set where `action` holds a beginning and an end only: the bytes of the whole, which `decisions.preview` pages. */
  wholeBytes: z.number().optional(),
  risk: Risk.nullable(),
  riskReason: z.string(),
  /** The person's rule that answered it, where one did. */
  ruleId: z.string().optional(),
  options: z.array(AnswerOption),
  paths: z.array(z.string()),
  createdAt: z.number(),
  expiresAt: z.number().nullable(),
  status: z.enum(['pending', 'resolved', 'cancelled', 'timed_out', 'withdrawn']),
  answer: Answer.nullable(),
  by: Actor.nullable(),
  settledAt: z.number().nullable(),
  /** Whether the answer reached the agent; null: not known yet. */
  told: z.enum(['sent', 'withdrawn', 'lost']).nullable(),
})
export type DecisionItem = z.infer<typeof DecisionItem>

const ToolItem = z.object({
  kind: z.literal('tool'),
  seq: z.number(),
  toolCallId: z.string(),
  tool: ToolKind,
  name: z.string().nullable(),
  title: z.string(),
  status: ToolStatus,
  paths: z.array(z.string()),
  content: z.array(ToolContent),
  allowedBy: z.object({ reason: z.string(), ruleId: z.string().nullable() }).nullable(),
  startedAt: z.number(),
  finishedAt: z.number().nullable(),
})
export type ToolItem = z.infer<typeof ToolItem>

/** In the order in which things happened. `seq` is that of the first event of the item. */
export const TranscriptItem = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), seq: z.number(), messageId: z.string(), text: z.string(), at: z.number() }),
  z.object({ kind: z.literal('thought'), seq: z.number(), messageId: z.string(), text: z.string(), at: z.number() }),
  ToolItem,
  z.object({ kind: z.literal('decision'), seq: z.number(), decision: DecisionItem }),
  z.object({ kind: z.literal('steer'), seq: z.number(), text: z.string(), at: z.number() }),
  z.object({
    kind: z.literal('notice'),
    seq: z.number(),
    code: z.string(),
    message: z.string(),
    level: z.enum(['info', 'warning']),
    at: z.number(),
  }),
])
export type TranscriptItem = z.infer<typeof TranscriptItem>

export const RetryProgress = z.object({
  attempt: z.number(),
  maxAttempts: z.number().nullable(),
  reasonCode: z.string(),
  retryAfterMs: z.number(),
  message: z.string(),
  at: z.number(),
})
export type RetryProgress = z.infer<typeof RetryProgress>

export const RunView = z.object({
  runId: z.string(),
  turnId: z.string().nullable(),
  intentId: z.string(),
  attempt: z.number(),
  retryOf: z.string().nullable(),
  source: Source,
  mode: Mode,
  provider: z.string().nullable(),
  model: z.string().nullable(),
  prompt: z.string(),
  inputs: z.array(InputFacts).default([]),
  state: RunState,
  /** What a start of over two seconds waits for; null once it runs. */
  startWaitsFor: z.string().nullable(),
  items: z.array(TranscriptItem),
  /** In the order of their publication. */
  artifacts: z.array(ArtifactFacts).default([]),
  plan: z.array(PlanEntry),
  retry: RetryProgress.nullable(),
  usage: Usage.nullable(),
  error: ErrorInfo.nullable(),
  stopReason: z.string().nullable(),
  sideEffects: SideEffects,
  partialOutput: z.boolean(),
  /** True where recovery wrote the end, not the owner. */
  recovered: z.boolean(),
  createdAt: z.number(),
  startedAt: z.number().nullable(),
  finishedAt: z.number().nullable(),
  firstSeq: z.number(),
  lastSeq: z.number(),
})
export type RunView = z.infer<typeof RunView>
