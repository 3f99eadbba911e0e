/** What the drivers share: how a worker is started, how a conversation is kept, how a question is put to the policy. */
import type { PermissionAction, Prompt, ToolKind, Usage } from '../../../../shared/vocabulary.ts'
import type { Clock, Ids, Log } from '../../../platform/types.ts'
import type { WorkerError } from '../../errors.ts'
import type { Limits } from '../../limits.ts'
import type {
  ContentBody,
  DecidedBy,
  Driver,
  InteractionRequest,
  PermissionMode,
  PromptResult,
  ProbeResult,
  Redaction,
  Redactor,
  Session,
  SessionConfig,
  SessionFacts,
  TurnStop,
  Worker,
} from '../../types.ts'

/** One line as JSON; undefined: it is none. `bytes`: how long it was. */
export type ReadLine = (value: unknown, bytes: number) => void

export type DriverFactory = (deps: DriverDeps) => Driver

export interface DriverDeps {
  clock: Clock
  ids: Ids
  log: Log
  hostEnv: (name: string) => string | undefined
  redactor(redaction: Redaction): Redactor
  /**
   * Checks the configuration, launches and records the worker (`onStarted` has run when this resolves).
   * @throws WorkerError with `started`.
   */
  start(plan: StartPlan, signal: AbortSignal): Promise<StartedWorker>
  /** A program run to its end under the probe's bounds; its whole group is gone when this resolves. */
  probe(request: ProbeRequest, signal: AbortSignal): Promise<ProbeResult>
  /** A started agent for a preflight's handshake; released by the caller. */
  startProbe(request: ProbeRequest, signal: AbortSignal): Promise<Worker>
  /** The absolute path of a program on this PATH, or null. */
  findProgram(name: string, path: string | undefined): Promise<string | null>
}

export interface StartPlan {
  cfg: SessionConfig
  /** A name looked up on the environment's PATH, or an absolute path. */
  program: string
  /** Holds no secret. */
  args: readonly string[]
  /** The driver's own names and fixed values, laid over `cfg.env`; the route's come after. */
  env: Readonly<Record<string, string>>
  /** Hand `cfg.route.key` over on descriptor 3. */
  keyOnDescriptor3?: boolean
}

export interface StartedWorker {
  worker: Worker
  cfg: SessionConfig
  limits: Limits
  redactor: Redactor
  /** The worker's environment as it was started, mark included. */
  env: Readonly<Record<string, string>>
}

export interface ProbeRequest {
  program: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
}

/** What the agent's protocol does in its own way. The conversation calls it; it calls the conversation. */
export interface Dialect {
  /** Writes the prompt. The turn is registered already; a rejection fails the turn. */
  startTurn(turn: Turn, prompt: Prompt): Promise<void>
  /** Writes what ends the running turn. Resolves once the pipe took it. */
  cancelTurn(turn: Turn): Promise<void>
  /** After a cancelled or unfinished turn: background commands of it, by the agent's own means. */
  afterTurn?(turn: Turn): Promise<void>
}

export interface Turn {
  /** From 1. */
  readonly number: number
  /** Settled: the reader saw its end. Permissions and content of it are over. */
  readonly settled: boolean
  /** This session asked for its end before it settled. */
  readonly cancelAsked: boolean
  /** A driver's own name for it (Codex's turn id). */
  agentTurnId: string | null
}

/** How the agent ended a turn; the conversation judges `cancelled` by who asked (W-25). */
export type TurnEnd =
  | { kind: 'stopped'; stop: Exclude<TurnStop, 'ended_by_denial'>; usage: Usage | null }
  | { kind: 'failed'; error: WorkerError }

/**
 * One conversation's bookkeeping, the same for every agent: turns, content and updates in wire order, permissions,
 * refusals, the ways it ends. All methods but the returned promises act synchronously, so that a driver may call them
 * straight from its reader.
 */
export interface Conversation {
  readonly limits: Limits
  readonly redactor: Redactor
  /** The unsettled turn, or null. */
  readonly turn: Turn | null
  readonly closing: boolean
  /** Resolves with why it ended; `session_ended` for an ordinary close. Never rejects. */
  readonly ended: Promise<WorkerError>
  /** Reads the worker's lines for as long as the conversation lasts, and judges how the stream and the process end. */
  read(onLine: ReadLine): void
  /** Content and facts, in wire order: to the sink (exact but for registered secrets) and, contentless, to `updates`. */
  content(body: ContentBody): void
  /** While replaying, content counts as turn 0 and nothing becomes an update, a permission or a refusal. */
  replaying(on: boolean): void
  /** The mode is proven; before that no permission reaches the policy. */
  modeProven(): void
  /** One question of the agent. Every question is answered, exactly once, unless the session ends first. */
  permission(question: Question): void
  /** What is no tool permission. Every one is replied to, exactly once, unless the session ends first. */
  interaction(interaction: Interaction): void
  /** The agent takes a question back. Unknown ids are ignored. */
  withdraw(wireId: WireId): void
  /** A refusal that was only observed (no question of ours). Once per tool call id. */
  refused(toolCallId: string, tool: string, kind: ToolKind): void
  /** The agent's end of the turn. The prompt resolves after decisions in flight were drained. */
  settle(end: TurnEnd): void
  /** A line that could not be read: counted, and past the bounds the end of the session. */
  invalidLine(bytes: number): void
  /** The mode was left, or something ran unasked: rejects the turn first, then releases with grace 0. One way. */
  unsafe(message: string, detail?: string): void
  /** Ends the session for this reason and releases with grace 0. */
  fail(error: WorkerError): void
  /** Runs the handshake under its bounds; on failure the worker is released and the error says what became of it. */
  open<T>(signal: AbortSignal, handshake: (inner: AbortSignal) => Promise<T>): Promise<T>
  /** The finished session. */
  session(parts: SessionParts): Session
}

export interface SessionParts {
  id: string
  /** A live object: the driver updates it as the agent reports. */
  facts: SessionFacts
  refusalReason: Session['refusalReason']
  runtime: Session['runtime']
  steer?: NonNullable<Session['steer']>
  setRuntime?: NonNullable<Session['setRuntime']>
}

/** The agent's request id, echoed as it came: 0, negatives and strings are ids. */
export type WireId = string | number

export interface Question {
  wireId: WireId
  toolCallId: string
  /** From the agent's own name field, or null. */
  tool: string | null
  /** The MCP server of this tool, where the agent names it apart. */
  mcpServer: string | null
  kind: ToolKind
  locations: readonly string[]
  action: PermissionAction
  complete: boolean
  /** The question names this session. */
  ours: boolean
  /** The agent offers a way to allow once. */
  canAllow: boolean
  /** False: the offered options are ambiguous; the answer is `cancelled`. */
  answerable: boolean
  /** Writes the answer. Resolves once the pipe took it. */
  answer(answer: QuestionAnswer): Promise<void>
}

/** `request` null: nobody can be asked this. `reply` gets null where it is declined. */
export interface Interaction {
  wireId: WireId
  request: Omit<InteractionRequest, 'requestId'> | null
  /** Writes the answer. Resolves once the pipe took it. */
  reply(answered: { body: unknown } | null): Promise<void>
}

export type QuestionAnswer =
  | { kind: 'allow' }
  | { kind: 'refuse'; by: DecidedBy; reason: string | null }
  | { kind: 'cancelled'; by: DecidedBy }

export interface ConversationOptions {
  started: StartedWorker
  deps: DriverDeps
  product: string
  mode: PermissionMode
  dialect: Dialect
}

export type { PromptResult }

// ---- JSON-RPC over lines, for ACP (with `jsonrpc`) and the Codex app-server (without)

export type RpcReply = { ok: true; result: unknown } | { ok: false; code: number; message: string; data: unknown }

export interface RpcHandlers {
  notification(method: string, params: unknown): void
  /** Answers by `respond` or `respondError`, later or never. Runs in the reader. */
  request(id: WireId, method: string, params: unknown): void
}

export interface RpcPeer {
  /** One line of the agent: the callback for `Conversation.read`. */
  read: ReadLine
  /** Resolves once the pipe took the line; `onReply` runs in the reader, synchronously with the line that carries it. */
  send(method: string, params: unknown, onReply: (reply: RpcReply) => void): Promise<void>
  /** @throws WorkerError `session_ended`, `aborted`. An error reply is a value. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<RpcReply>
  notify(method: string, params: unknown): Promise<void>
  respond(id: WireId, result: unknown): Promise<void>
  respondError(id: WireId, code: number, message: string): Promise<void>
}
