/**
 * The runtime's words and ports. `Executor` is what the runtime needs of whoever runs an agent: `src/main/executor`
 * implements it over workers and providers, a test in a few lines. Nothing here knows a process, a key or a route.
 */
import { z } from 'zod'
import type { ErrorCode } from '../../shared/errors.ts'
import type { ErrorInfo, RunPhase, SessionEvent } from '../../shared/events.ts'
import type { FormAnswer, QuestionForm } from '../../shared/questions.ts'
import { Effort, Mode, Source } from '../../shared/vocabulary.ts'
import type {
  Actor,
  AgentId,
  Answer,
  AnswerOption,
  DecisionAction,
  PermissionAction,
  PlanEntry,
  Prompt,
  Risk,
  RunState,
  RuntimeChoice,
  SideEffects,
  ToolContent,
  ToolKind,
  ToolStatus,
  Usage,
} from '../../shared/vocabulary.ts'
import type { Tx } from '../platform/types.ts'
import { DeliveryTarget, MAX_TARGETS } from './deliveries/types.ts'
import type { MaterialKind, OpenMaterial } from './materials/limits.ts'

export type { ErrorInfo, RunPhase, SessionEvent } from '../../shared/events.ts'

// ---------------------------------------------------------------- what a run was admitted with

/** Frozen at admission and stored with the run (at most 64 KiB): what the agent may do, and on what it runs. */
export const PolicySnapshot = z.object({
  source: Source,
  /** Where this run was asked for, for display; `source` owns the policy. */
  entrySource: Source,
  mode: Mode,
  forced: z.boolean(),
  unattended: z.boolean(),
  sandbox: z.enum(['read_only', 'workspace', 'none']),
  /** Absolute. `roots[0]` is the work directory. */
  roots: z.array(z.string()).min(1).max(17),
  /** What was chosen: null is the agent's own login, its own default model. */
  connectionId: z.string().nullable(),
  modelId: z.string().nullable(),
  effort: Effort,
  /** Names alone, never their secrets. */
  skills: z.array(z.string()).max(256),
  mcpServers: z.array(z.string()).max(256),
  mcpRequired: z.array(z.string()).max(256),
  /** How long a permission waits for its answer. */
  decisionTtlMs: z.number().int().positive(),
  /** Waiting for a person does not count. */
  maxRunMs: z.number().int().positive(),
  /** Its requests go to the chosen Provider alone, whatever a failover rule says. */
  failover: z.literal('off').optional(),
  /** Where the answer goes; absent: nowhere but into the transcript. */
  deliveryTargets: z.array(DeliveryTarget).max(MAX_TARGETS).optional(),
})
export type PolicySnapshot = z.infer<typeof PolicySnapshot>

/** What an "always" answer left behind. Exactly one of `sessionId` and `projectDir` is set. */
export interface PermissionRule {
  id: string
  sessionId: string | null
  projectDir: string | null
  matchKind: 'command_exact' | 'tool'
  pattern: string
  /** The only folder that an allowed command may start in, absolute; null for every other rule. */
  folder: string | null
  effect: 'allow' | 'reject'
  decisionId: string | null
  createdAt: number
}

// ---------------------------------------------------------------- executor

/**
 * The only thing that executes a run. Every call is bounded by the runtime as noted, and aborted by its signal.
 */
export interface Executor {
  /**
   * Takes a warm worker of the session, or opens one, and hands it the prompt. Pushes `accepted` BEFORE the prompt's first
   * byte leaves; resolves once the agent has the prompt. At most 120 s. When the signal aborts, it rejects; an `Execution`
   * that comes all the same is killed.
   * @throws AppError with the failure's code, and a `RawFailure` as `data` where more is known. Before `accepted` the runtime
   * may call again; afterwards never.
   */
  start(spec: ExecutionSpec, sink: ExecutionSink, signal: AbortSignal): Promise<Execution>
  /**
   * Takes up a run that goes on elsewhere. At most 10 s. Absent: this executor knows no such runs. `kill` of what it answers
   * ends the run; letting go of it does not.
   */
  attach?(ref: RemoteRef, sink: ExecutionSink, signal: AbortSignal): Promise<Execution>
  /** Asks it to end. At most 10 s. @throws AppError `remote_stop_unsupported`. */
  cancelRemote?(ref: RemoteRef, signal: AbortSignal): Promise<void>
  /** Is the worker of a run whose owner died gone? May kill it. At most 5 s; a throw counts as `alive`. */
  quiesce(ref: RunRef, signal: AbortSignal): Promise<'absent' | 'stopped' | 'alive'>
  /** The session is archived or deleted: its idle worker is taken away. At most 7 s. */
  closeSession?(sessionId: string, signal: AbortSignal): Promise<'gone' | 'held'>
  /** Inside the transaction that deletes the session: forget what is kept for it. */
  forgetSession?(sessionId: string, tx: Tx): void
}

/** What a driver says of a run that goes on elsewhere: the only proof that it does. */
export interface RemoteEvidence {
  driver: string
  remoteId: string
  /** The driver's own word. */
  state: string
  terminal: boolean
  canCancel: boolean
  /** Where to go on reading it. */
  cursor: string | null
}

/** Identity alone, nothing of a lease. */
export interface RemoteRef extends Pick<RemoteEvidence, 'driver' | 'remoteId' | 'state' | 'cursor'> {
  sessionId: string
  runId: string
}

export interface RunRef {
  sessionId: string
  runId: string
  workerRef: string | null
}

export interface ExecutionSpec {
  sessionId: string
  runId: string
  intentId: string
  attempt: number
  agentId: AgentId
  prompt: Prompt
  policy: PolicySnapshot
  /** The transcript as a visible preamble, for a conversation that the agent itself does not remember; else null. */
  history: string | null
  /** A question beside the conversation: for a worker of its own, in a fresh conversation that nobody goes on with. */
  aside?: true
}

/** One accepted prompt. */
export interface Execution {
  /** Opaque, for people and logs. */
  readonly workerRef: string
  /**
   * Hands over the settled answer of a permission, once per request. At most 5 s; a rejection is tried again, 3 times in all.
   * Whether the bytes left is told by the update `answer_told`.
   */
  answer(requestId: string, decision: PermissionDecision): Promise<void>
  /** Text into the turn that runs; absent where the agent cannot. At most 5 s. */
  steer?(text: string, signal: AbortSignal): Promise<'taken' | 'refused'>
  /** Asks the agent to end the turn. `ended` follows, or the runtime calls `kill` 10 s later. */
  cancel(): Promise<void>
  /** Takes the worker away. `held`: something of it still lives. At most 5 s. */
  kill(): Promise<'gone' | 'held'>
  /** Settles exactly once and never rejects. No update counts after it. */
  readonly ended: Promise<ExecutionEnd>
}

export interface PermissionDecision {
  allow: boolean
  by: 'policy' | 'person' | 'expired' | 'withdrawn' | 'cancelled'
  /** For the agent, where it can be told. */
  reason: string | null
  /** A question's answer: there where it was given one. */
  form?: FormAnswer
}

/** What an agent asks in words. */
export interface QuestionRequest {
  requestId: string
  /** '' where it belongs to no call. */
  toolCallId: string
  title: string
  form: QuestionForm
}

/** What an agent asks. `action` is exact, registered secrets alone replaced; `complete: false`: it was cut. */
export interface PermissionRequest {
  requestId: string
  toolCallId: string
  /** The agent's own name of the tool. */
  tool: string
  kind: ToolKind
  title: string
  /** Absolute paths that the call names. */
  locations: readonly string[]
  action: PermissionAction
  complete: boolean
}

/** Takes updates in wire order. Synchronous, never throws, never waits. */
export interface ExecutionSink {
  push(update: ExecutionUpdate): void
}

export type ExecutionUpdate =
  | { kind: 'accepted'; workerId: string; agentSessionId: string | null }
  | { kind: 'output' | 'thought'; messageId: string; text: string }
  | {
      kind: 'tool'
      phase: 'started' | 'updated' | 'finished'
      toolCallId: string
      tool: ToolKind
      name: string | null
      title: string
      status: ToolStatus
      paths: readonly string[]
      content: readonly ToolContent[]
      interrupted?: boolean
      /** Set by whoever knows that this tool changes nothing, whatever its kind says. */
      readOnly?: boolean
    }
  | { kind: 'plan'; entries: readonly PlanEntry[] }
  | { kind: 'usage'; usage: Usage }
  | { kind: 'title'; title: string }
  | { kind: 'commands'; commands: readonly AgentCommand[] }
  | { kind: 'notice'; code: string; message: string; level?: 'info' | 'warning' }
  /** A file that the agent offers; exactly one of `path` and `open`. Its copy begins at once. */
  | { kind: 'artifact'; path?: string; open?: OpenMaterial; filename?: string; artifactKind?: MaterialKind }
  | ({ kind: 'permission' } & { request: PermissionRequest })
  /** Something asked in words. Answered, withdrawn and told like a permission. */
  | { kind: 'question'; request: QuestionRequest }
  /** The run goes on elsewhere, whatever becomes of this process. */
  | ({ kind: 'remote' } & RemoteEvidence)
  | { kind: 'permission_withdrawn'; requestId: string; why: 'agent' | 'turn_ended' | 'bounds' }
  /** `sent`: the pipe took the bytes; `lost`: it never will. Sets the decision's `applied_at`. */
  | { kind: 'answer_told'; requestId: string; how: 'sent' | 'lost' }
  /** The agent's own retry inside the turn. `continues`: what was shown so far stands. */
  | {
      kind: 'retrying'
      attempt: number
      maxAttempts: number | null
      reasonCode: string
      retryAfterMs: number
      phase?: RunPhase
      continues?: boolean
      message?: string
    }

export interface AgentCommand {
  name: string
  description: string
}

export interface ExecutionEnd {
  outcome: 'completed' | 'incomplete' | 'cancelled' | 'failed'
  /** The agent's word, such as `end_turn`, `max_tokens`, `refusal`, `ended_by_denial`. */
  stopReason?: string
  /** The whole answer; when absent, it is put together from the `output` updates. */
  assistant?: { text: string }
  error?: RawFailure
}

/** What is known of a failure, before it is classified. Text is never searched for meaning. */
export const RawFailure = z.object({
  message: z.string(),
  detail: z.string().optional(),
  httpStatus: z.number().int().optional(),
  /** A registered code of ours, an errno (`ECONNREFUSED`), or the provider's own (`insufficient_quota`). */
  code: z.string().optional(),
  exitCode: z.number().int().optional(),
  signal: z.string().optional(),
  phase: z
    .enum(['admission', 'model', 'context', 'tool', 'approval', 'persistence', 'transport', 'terminalization'])
    .optional(),
  retryAfterMs: z.number().optional(),
  requestId: z.string().optional(),
})
export type RawFailure = z.infer<typeof RawFailure>

// ---------------------------------------------------------------- other ports

/** Which process this is, so that a lease of a dead one on this machine need not be waited for. */
export interface HostIdentity {
  /** sha256 of machine id, boot id and pid namespace: pids are comparable only where it is equal. */
  ownerHost: string
  pid: number
  /** False only if the system says that there is no such process. */
  isAlive(pid: number): boolean
}

/** What an agent may use beside its tools. Taken whole or refused `resources_invalid`. */
export interface ResourcePort {
  resolve(
    query: { agentId: AgentId; workDir: string; roots: readonly string[] },
    signal: AbortSignal,
  ): Promise<{ skills: string[]; mcpServers: string[]; mcpRequired: string[] }>
}

/**
 * What stands between a run's end and its last row: copies of artifacts, planned deliveries. Only a run that has such
 * work pays the extra commit that keeps its end safe meanwhile.
 */
export interface EndWork {
  pending(runId: string): boolean
  /** At most 30 s. */
  settle(run: RunRef, signal: AbortSignal): Promise<void>
}

/** The one door that changes connection, model or effort of a session; it writes through `Runtime.config.applyChoice`. */
export interface ChoicePort {
  set(
    request: { sessionId: string; choice: RuntimeChoice; allowHistoryStrip: boolean; expectedRev: number; by: Actor },
    signal: AbortSignal,
  ): Promise<{ rev: number }>
}

// ---------------------------------------------------------------- the door's vocabulary

export interface SubmitRequest {
  sessionId: string
  text: string
  inputs?: readonly string[]
  requestedMode?: string
  source: Source
  /** Idempotency key, 1 to 200 bytes; only its hash is kept. */
  key?: string
  /** Wait up to 30 s for a busy session instead of refusing at once. */
  wait?: boolean
  /** Never read as a slash command or an @file. */
  literal?: boolean
  /** Its requests go to the session's Provider alone, whatever a failover rule says. */
  failover?: 'off'
  /** False: a maintenance run, in all but the transcript. For host code only. */
  conversation?: false
}

export interface RetryRequest {
  runId: string
  source: Source
  key?: string
  /** Needed where the failed attempt may have changed something. */
  acknowledgeSideEffects?: boolean
}

export interface Admission {
  sessionId: string
  runId: string
  intentId: string
  state: RunState
  replayed: boolean
}

export interface RunRow {
  id: string
  sessionId: string
  intentId: string
  attempt: number
  retryOf: string | null
  source: Source
  mode: Mode
  provider: string | null
  model: string | null
  workerRef: string | null
  state: RunState
  sideEffects: SideEffects
  partialOutput: boolean
  /** Whether an agent took this attempt's prompt. */
  accepted: boolean
  reopenCount: number
  error: ErrorInfo | null
  createdAt: number
  startedAt: number | null
  updatedAt: number
  finishedAt: number | null
}

export interface SessionRow {
  id: string
  title: string
  titleBy: 'person' | 'agent' | 'prompt' | null
  agentId: AgentId
  workDir: string
  extraDirs: readonly string[]
  createdVia: Source
  policySource: 'cron' | 'channel' | null
  choice: RuntimeChoice
  mode: Mode | null
  sandbox: boolean
  rev: number
  headSeq: number
  floorSeq: number
  parentId: string | null
  createdAt: number
  updatedAt: number
  archivedAt: number | null
}

/** What a list says of a session beside its row. */
export interface SessionBrief {
  sessionId: string
  /** Its runs cannot be read: nothing is known of them. */
  damaged: boolean
  /** The run that has not ended. */
  active: { runId: string; state: RunState; startedAt: number | null; createdAt: number } | null
  /** The last one that has. */
  ended: { runId: string; state: RunState; finishedAt: number; errorCode: string | null } | null
  /** Questions that wait for an answer. */
  pendingDecisions: number
}

export interface DecisionRow {
  id: string
  sessionId: string
  runId: string
  kind: 'approval' | 'question'
  requestId: string
  toolCallId: string
  tool: string
  toolKind: ToolKind
  title: string
  action: DecisionAction
  complete: boolean
  /** The bytes of the whole action where the row holds its beginning and end only; null: `action` is whole. */
  wholeBytes: number | null
  /** Hex sha256 of the whole action where it is kept as a blob; `decisions.preview` pages it. */
  blob: string | null
  risk: Risk | null
  riskReason: string
  /** The person's rule that answered it; null: no rule did. */
  ruleId: string | null
  options: readonly AnswerOption[]
  paths: readonly string[]
  status: 'pending' | 'resolved' | 'cancelled' | 'timed_out' | 'withdrawn'
  answer: Answer | null
  by: Actor | null
  createdAt: number
  expiresAt: number | null
  settledAt: number | null
  told: 'sent' | 'withdrawn' | 'lost' | null
  appliedAt: number | null
}

/** One vocabulary for window, tray, notification, CLI and ACP. */
export type DecisionOutcome =
  | { kind: 'resolved' }
  | { kind: 'already_resolved'; answer: Answer; by: Actor; atMs: number }
  | { kind: 'closed'; status: 'cancelled' | 'timed_out' | 'withdrawn'; atMs: number }

/** Newest first. `before`: the id of the last one that is known. */
export interface DecisionQuery {
  sessionId?: string
  runId?: string
  outcome?: 'pending' | 'allowed' | 'refused' | 'unanswered'
  by?: 'person' | 'policy'
  risk?: Risk
  before?: string
  limit: number
}

export interface DraftRow {
  rev: number
  text: string
  inputIds: readonly string[]
  queued: boolean
}

export type StopCode =
  | 'no_active_run'
  | 'session_reserved'
  | 'session_run_owned_elsewhere'
  | 'session_execution_state_unavailable'
  | 'session_run_target_changed'
  | 'stop_accepted'
  | 'recovery_started'
  | 'session_recovery_failed'
  | 'remote_stop_unsupported'
  | 'remote_stop_accepted'
  | 'remote_stop_failed'

export interface EventPage {
  events: SessionEvent[]
  headSeq: number
  floorSeq: number
  hasMore: boolean
}

export interface RunReplay {
  sessionId: string
  runId: string
  state: RunState
  terminal: boolean
  events: SessionEvent[]
}

/** What a subscriber is handed, in order. After `resync` it is served from `fromSeq` again, out of the database. */
export type SubscriptionItem =
  | { kind: 'events'; events: readonly SessionEvent[] }
  | { kind: 'resync'; fromSeq: number }
  | { kind: 'ownership_lost' }
  | { kind: 'runtime_stopped' }

/** Told after the commit, never before. */
export type RuntimeChange =
  | { kind: 'session'; sessionId: string; deleted?: true }
  | { kind: 'run'; sessionId: string; runId: string }
  | { kind: 'decision'; sessionId: string; decisionId: string }
  | { kind: 'draft'; sessionId: string }
  /** A rule came or went. */
  | { kind: 'rules' }
  /** A piece of it was sent, or is to be tried again. */
  | { kind: 'delivery'; sessionId: string; deliveryId: string }
  | { kind: 'commands'; sessionId: string; commands: readonly AgentCommand[] }
  | { kind: 'scan'; outcome: ScanOutcome | null; error: ErrorCode | null }

export interface ScanOutcome {
  failed: number
  finished: number
  kept: number
  skipped: number
}

/** 10-runtime section 12.3: who may do what to a session now. Nobody infers it from a row or a map of their own. */
export interface Inspection {
  sessionId: string
  sessionExists: boolean
  activeRun: {
    runId: string
    state: RunState
    source: Source
    model: string | null
    mode: Mode
    startedAt: number | null
    updatedAt: number
  } | null
  lastRun: { runId: string; state: RunState; finishedAt: number } | null
  state:
    | 'unknown'
    | 'inconsistent'
    | 'reserved'
    | 'idle'
    | 'detached_remote'
    | 'recovery_failed'
    | 'orphaned'
    | 'local'
    | 'external'
  phase: 'missing' | 'admitting' | 'releasing' | 'reserved' | 'recovering' | 'executing' | null
  linkage: 'none' | 'bound' | 'mismatched'
  recoveryAction: 'none' | 'reattach_remote' | 'finalize_remote' | 'retry_recovery' | 'recover_orphan'
  running: boolean
  busy: boolean
  canSubmit: boolean
  canCancelLocal: boolean
  canCancelRemote: boolean
  leasePurpose: LeasePurpose | null
  leaseEpoch: number | null
  leaseExpiresAt: number | null
  /** The hash of the token, never the token. */
  leaseTokenIdentity: string | null
  ownerInstanceId: string | null
  ownerPid: number | null
  ownerScope: 'local' | 'external' | 'remote' | 'none' | 'unknown'
  recoveryAttempt: number | null
  recoveryLastError: string | null
  recoveryNextAt: number | null
  remoteRunId: string | null
  remoteDriver: string | null
  remoteState: string | null
  error: ErrorCode | null
}

export type LeasePurpose = 'admission' | 'execution' | 'recovery' | 'mutation' | 'fork'
