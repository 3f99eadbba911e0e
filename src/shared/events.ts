/**
 * The session's event log, as it stands in the database and as windows receive it: one envelope, and the data of each
 * type. Readers keep types they do not know. Data is cut to 65 536 bytes by the writer, which adds `cut`.
 */
import { z } from 'zod'
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
} from './vocabulary.ts'

/** How a run that did not complete ended: 10-runtime section 9. */
export const ErrorInfo = z.object({
  code: z.string(),
  type: z.string(),
  failureClass: z.enum([
    'validation',
    'policy',
    'transient',
    'provider',
    'tool',
    'transport',
    'cancelled',
    'incomplete',
    'persistence',
    'internal',
  ]),
  phase: z.enum(['admission', 'model', 'context', 'tool', 'approval', 'persistence', 'transport', 'terminalization']),
  messageKey: z.string(),
  message: z.string(),
  detail: z.string().optional(),
  retryMode: z.enum(['none', 'automatic', 'reconcile', 'user', 'decision_required']),
  retryable: z.boolean(),
  retryAfterMs: z.number().optional(),
  attempt: z.number().optional(),
  maxAttempts: z.number().optional(),
  sideEffectState: SideEffects,
  partialOutput: z.boolean(),
  runId: z.string(),
  intentId: z.string(),
  requestId: z.string().optional(),
})
export type ErrorInfo = z.infer<typeof ErrorInfo>
export type RunPhase = ErrorInfo['phase']

/** An attachment of a person's, as it is shown. */
export const InputFacts = z.object({
  inputId: z.string(),
  kind: z.enum(['image', 'file', 'audio', 'video']),
  filename: z.string(),
  mediaType: z.string(),
  bytes: z.number(),
})
export type InputFacts = z.infer<typeof InputFacts>

/** A file that an agent published. */
export const ArtifactFacts = InputFacts.omit({ inputId: true }).extend({ artifactId: z.string() })
export type ArtifactFacts = z.infer<typeof ArtifactFacts>

const cut = z.object({ bytes: z.number(), sha256: z.string() }).optional()

const toolData = z.object({
  toolCallId: z.string(),
  tool: ToolKind,
  name: z.string().nullable(),
  title: z.string(),
  status: ToolStatus,
  paths: z.array(z.string()),
  content: z.array(ToolContent),
  /** Set where policy let the call pass without a decision row; `ruleId` where a rule of the person's did. */
  allowedBy: z.object({ reason: z.string(), ruleId: z.string().nullable() }).nullable().optional(),
  interrupted: z.boolean().optional(),
  cut,
})

const endData = z.object({
  state: RunState,
  entryId: z.string().nullable(),
  stopReason: z.string().nullable(),
  error: ErrorInfo.nullable(),
  sideEffects: SideEffects,
  partialOutput: z.boolean(),
})

export const eventData = {
  run_created: z.object({
    intentId: z.string(),
    attempt: z.number(),
    retryOf: z.string().nullable(),
    source: Source,
    entrySource: Source,
    mode: Mode,
    provider: z.string().nullable(),
    model: z.string().nullable(),
    turnId: z.string().nullable(),
    prompt: z.string(),
    /** In the order of the prompt. */
    inputs: z.array(InputFacts).optional(),
    cut,
  }),
  run_state: z.object({ reason: z.string().nullable() }),
  run_retrying: z.object({
    attempt: z.number(),
    maxAttempts: z.number().nullable(),
    reasonCode: z.string(),
    retryAfterMs: z.number(),
    phase: z.string().nullable(),
    continues: z.boolean(),
    messageKey: z.string().optional(),
    message: z.string(),
  }),
  run_remote: z.looseObject({}),
  run_finished: endData,
  run_recovered: endData,
  run_reopened: z.looseObject({}),
  output_text: z.object({ messageId: z.string(), text: z.string(), cut }),
  output_thought: z.object({ messageId: z.string(), text: z.string(), cut }),
  user_steered: z.object({ text: z.string(), status: z.enum(['delivered', 'undelivered']).optional(), cut }),
  tool_started: toolData,
  tool_updated: toolData,
  tool_finished: toolData,
  plan_updated: z.object({ entries: z.array(PlanEntry) }),
  usage_updated: z.object({ usage: Usage }),
  /** `level`: how loud; code `start_waits` says what a slow start waits for. */
  notice: z.object({ code: z.string(), message: z.string(), level: z.enum(['info', 'warning']).optional() }),
  decision_requested: z.object({
    decisionId: z.string(),
    kind: z.enum(['approval', 'question']),
    toolCallId: z.string(),
    tool: z.string(),
    toolKind: ToolKind,
    title: z.string(),
    action: DecisionAction,
    complete: z.boolean(),
    /** Set where `action` holds a beginning and an end only: the bytes of the whole, which `decisions.preview` pages. */
    wholeBytes: z.number().optional(),
    risk: Risk.nullable(),
    riskReason: z.string(),
    /** The person's rule that answered it, where one did. */
    ruleId: z.string().optional(),
    options: z.array(AnswerOption),
    paths: z.array(z.string()),
    expiresAt: z.number().nullable(),
    cut,
  }),
  decision_resolved: z.object({
    decisionId: z.string(),
    status: z.enum(['resolved', 'cancelled', 'timed_out', 'withdrawn']),
    answer: Answer.nullable(),
    by: Actor,
  }),
  /** Whether the settled answer reached the agent. */
  decision_told: z.object({ decisionId: z.string(), how: z.enum(['sent', 'withdrawn', 'lost']) }),
  artifact_published: ArtifactFacts,
  artifact_failed: z.object({ code: z.string(), message: z.string(), filename: z.string().nullable() }),
  input_prepared: InputFacts.extend({ origin: z.string() }),
  input_attached: z.object({ inputId: z.string(), runId: z.string() }),
  input_deleted: z.object({ inputId: z.string(), reason: z.enum(['discarded', 'deleted', 'expired']) }),
  input_missing: z.object({ inputId: z.string() }),
  config_changed: z.object({ rev: z.number(), changed: z.record(z.string(), z.unknown()) }),
  title_changed: z.object({ title: z.string(), by: z.enum(['person', 'agent', 'prompt']) }),
  session_forked: z.object({
    /** The child's. */
    sessionId: z.string(),
    parentId: z.string(),
    forkKind: z.enum(['session', 'message']),
    boundarySeq: z.number(),
    prefixLength: z.number(),
  }),
  /** Deliveries outlive their run: it stands in the data alone. */
  delivery_planned: z.object({
    runId: z.string(),
    deliveryId: z.string(),
    transport: z.string(),
    targetId: z.string(),
    operations: z.array(z.object({ operationId: z.string(), kind: z.string() })),
  }),
  delivery_updated: z.object({
    runId: z.string(),
    deliveryId: z.string(),
    deliveryStatus: z.enum(['pending', 'delivered', 'failed', 'uncertain', 'cancelled']),
    operationId: z.string(),
    kind: z.string(),
    sequence: z.number(),
    status: z.string(),
    failureCode: z.string(),
    attempt: z.number(),
    nextAttemptAt: z.number().nullable(),
  }),
} as const

export type EventType = keyof typeof eventData
export type EventData<T extends EventType> = z.infer<(typeof eventData)[T]>
export const EVENT_TYPES = Object.keys(eventData) as EventType[]

/** The envelope. `state`: the run's state after the event, where the event sets one. `at`: wall clock, Unix ms. */
export const SessionEvent = z.object({
  sessionId: z.string(),
  seq: z.number().int().positive(),
  runId: z.string().nullable(),
  type: z.string(),
  state: RunState.nullable(),
  at: z.number(),
  data: z.record(z.string(), z.unknown()),
})
export type SessionEvent = z.infer<typeof SessionEvent>

export type TypedEvent = { [T in EventType]: { type: T; data: EventData<T> } }[EventType] &
  Omit<SessionEvent, 'type' | 'data'>

/** Reads the event's data by its type; null for a type of a newer build, or data that its type forbids. */
export function readEvent(event: SessionEvent): TypedEvent | null {
  const schema = Object.hasOwn(eventData, event.type) ? eventData[event.type as EventType] : undefined
  const parsed = schema?.safeParse(event.data)
  return parsed?.success === true ? ({ ...event, data: parsed.data } as TypedEvent) : null
}
