/**
 * The whole surface of the worker system. A driver adapts one kind of agent; a worker is one process tree that a driver
 * started; a session is one conversation on one worker; a turn is one prompt until its stop reason. Nothing here knows
 * the database, a window or a provider. Every promise that rejects, rejects with `WorkerError`.
 */
import type {
  Effort,
  JsonValue,
  PermissionAction,
  PlanEntry,
  Prompt,
  ToolContent,
  ToolKind,
  ToolStatus,
  Usage,
} from '../../shared/vocabulary.ts'
import type { Log, Secret } from '../platform/types.ts'
import type { WorkerError } from './errors.ts'
import type { Limits } from './limits.ts'

export { LIMITS } from './limits.ts'
export type { Limits } from './limits.ts'
export { WorkerError } from './errors.ts'
export type { Started } from './errors.ts'

// ---- drivers and sessions

export type DriverName = 'acp' | 'claude' | 'codex'

export interface Capabilities {
  /** `loadSession` works, so a conversation can outlive its worker. */
  loadSession: boolean
  /** The agent can begin a new conversation from another one's history. */
  forkSession: boolean
  /** A live session takes further prompts. */
  followUpPrompts: boolean
  /** The agent asks and `policy.decide` answers. */
  permissionCallback: boolean
  /** When the permission mode can be verified. */
  modeProof: 'before_prompt' | 'first_prompt' | 'none'
}

export interface Driver {
  readonly name: DriverName
  /** For a person: "Claude Code". */
  readonly product: string
  /** Shipped values until a handshake has run, then what the agent (of this profile, for `acp`) advertised. */
  capabilities(profileId?: string): Capabilities
  newSession(cfg: SessionConfig, signal: AbortSignal): Promise<Session>
  loadSession(cfg: SessionConfig, agentSessionId: string, signal: AbortSignal): Promise<Session>
  preflight(request: PreflightRequest, signal: AbortSignal): Promise<Preflight>
}

export interface SessionFacts {
  agentName: string
  agentVersion: string
  model: string | null
  mode: PermissionMode
  /** False: the agent offers no mode to verify. Shown to the person. */
  modeVerified: boolean
  loaded: boolean
}

export interface Session {
  /** The agent's own session id. */
  readonly id: string
  readonly process: ProcessIdentity
  readonly facts: SessionFacts
  /** Resolves once the leader is reaped, however it ended. Never rejects. */
  readonly exited: Promise<Exit>
  /** How the reason of a refusal reaches the agent. */
  readonly refusalReason: 'in_answer' | 'steer' | 'next_prompt'
  /**
   * One turn. An aborted signal ends the waiting (`aborted`), never the turn.
   * @throws WorkerError `turn_in_flight`, `prompt_too_large`, `session_ended`, `aborted`, and how the turn failed.
   */
  prompt(prompt: Prompt, signal?: AbortSignal): Promise<PromptResult>
  /** Text into the running turn. Absent where the agent would make it a turn of its own. */
  steer?(text: string, signal: AbortSignal): Promise<'taken' | 'refused'>
  /** Another model or effort without a new worker. Absent: it takes effect by reopening. */
  setRuntime?(choice: { modelId: string; effort: Effort }): Promise<'applied' | 'next_turn'>
  /** What the agent last said it runs with. */
  runtime(): { modelId: string | null; effort: Effort | null }
  /** One consumer; a second call throws `updates_taken`. Ends with the session. */
  updates(): AsyncIterable<Update>
  /** Ends the turn, never the worker. @throws WorkerError `cancel_stuck`, `session_ended`. */
  cancel(signal?: AbortSignal): Promise<'sent' | 'no_turn'>
  /** Idempotent: every call gets the same outcome. Never rejects. */
  close(options?: CloseOptions): Promise<ReleaseOutcome>
  diagnostics(): Diagnostics
}

/** Defaults stand in `LIMITS`. */
export interface CloseOptions {
  closeStdinMs?: number
  termGraceMs?: number
  confirmMs?: number
}

export interface Diagnostics {
  droppedUpdates: number
  invalidLines: number
  contentGaps: number
  refusalsUnrecorded: number
  stderr: string[]
}

export interface SessionConfig {
  /** UUID v7, durably recorded by the owner BEFORE the start. */
  workerId: string
  /** Absolute, an existing directory. */
  cwd: string
  /** Further roots the agent may work in, absolute. */
  addDirs: readonly string[]
  /** The whole environment for the worker, made by `buildEnv`. */
  env: Readonly<Record<string, string>>
  /** What the provider system compiled; null: the agent's own login. */
  route: RoutePlan | null
  /** Only without a route. An agent that has no way to take it: `worker_unusable`. */
  model?: string
  effort?: Effort
  /** Which ACP agent: the `acp` driver needs it, the others ignore it. */
  profile?: AgentProfile
  mcpServers: readonly McpServer[]
  /** `exact`: these servers and no other. `with_users_own`: the user's own servers and sub-agents stay. */
  mcp: 'exact' | 'with_users_own'
  /** The person trusted this folder: its own settings may be read. */
  folderTrusted: boolean
  /** Begin from another conversation's history, by the agent's own fork. */
  fork: { agentSessionId: string } | null
  /** Earlier transcript for an agent that cannot fork; goes visibly before the first prompt. */
  history: string | null
  policy: PermissionPolicy
  refusals: RefusalRecorder
  /** Default: the command as it is. */
  launcher?: Launcher
  scope: Scope
  /** 0700, this worker's own; session files go here and nowhere else. */
  privateDir: string
  /** For Wheelhouse's own MCP bridge: the worker arms it, and ends it. Null: this worker has no bridge. */
  token: TokenSocket | null
  /** Absent: every interaction is declined. */
  interactions?: InteractionPort
  /** Once, awaited at most 5 s, before the first byte goes to the agent. A rejection fails the start. */
  onStarted(process: ProcessIdentity): Promise<void>
  redaction: Redaction
  /** Absent: content is dropped. */
  content?: ContentSink
  /** May lower a bound, never raise one. */
  limits?: Partial<Limits>
}

export interface RoutePlan {
  /** Holds no secret. */
  argv: readonly string[]
  /** Into the agent's own protocol; may hold the route id. */
  config: Readonly<Record<string, JsonValue>>
  /** Handed on descriptor 3, or in the agent's protocol. Never in argv, environment or a named file. */
  key?: Secret
  envSet: Readonly<Record<string, string>>
  envUnset: readonly string[]
}

/** Over stdio. */
export interface McpServer {
  /** `[A-Za-z0-9_-]{1,64}` without `__`, unique. */
  name: string
  /** Absolute and executable. */
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
}

/** One kind of ACP agent, as data. */
export interface AgentProfile {
  id: string
  product: string
  command: string
  args: readonly string[]
  /** Fixed values of its own, such as switches. */
  env: Readonly<Record<string, string>>
  /** Names taken from the host's environment where `SessionConfig.env` lacks them. */
  envNames: readonly string[]
  /** The agent's mode ids per permission mode: the first that it offers is taken. Empty: it has none for it. */
  modes: Readonly<Record<PermissionMode, readonly string[]>>
  /** Sent as `_meta` of `session/new`, `session/load` and `session/resume`. */
  sessionMeta: Readonly<Record<string, JsonValue>>
  /** The variable that tells the agent the descriptor of a route's key (3); null: it takes no key that way. */
  keyVariable: string | null
  /** Called after `initialize` when a route gives the login. */
  authMethod: string | null
  /** Name and version that `agentInfo` must equal. */
  pin: { name: string; version: string } | null
  /** What a person does about a missing login. */
  loginHint: string
  /** The agent reads `_meta.wheelhouse.reason` of a refusal. */
  reasonInAnswer: boolean
  /** A program whose own ways are known: what it needs besides is made for each session. */
  adapter: AdapterName | null
  /** What a person has to know of how this agent asks; null: nothing beyond the modes. */
  remark: string | null
}

export type AdapterName = 'codex' | 'claude' | 'opencode'

// ---- what a turn yields

/** `refusal`: the model's own. `ended_by_denial`: the turn ended because its owner said no. */
export type TurnStop = 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'ended_by_denial' | 'cancelled'

export interface PromptResult {
  stop: TurnStop
  refusals: readonly Refusal[]
  refusalsTruncated: boolean
  /** Null: the agent did not say. */
  usage: Usage | null
}

/** A contentless sign of progress; `seq` from 1, gaps show what was dropped; `atMs`: wall clock. */
export type Update = { seq: number; atMs: number } & UpdateBody
export type UpdateBody =
  | {
      kind: 'tool_call' | 'tool_call_update'
      toolCallId: string
      tool: string
      toolKind: ToolKind
      status: ToolStatus | null
    }
  /** `chars`: UTF-16 length of text that is not carried. */
  | { kind: 'agent_message_chunk'; chars: number }
  | { kind: 'usage'; usage: Usage }
  | { kind: 'plan'; entries: number }
  | {
      kind: 'retrying'
      attempt: number
      maxAttempts: number | null
      httpStatus: number | null
      retryAfterMs: number
    }
  | { kind: 'permission'; toolCallId: string; tool: string; toolKind: ToolKind; allowed: boolean; by: DecidedBy }

/** The one ordered channel of content and facts. `write` is synchronous, in wire order, and never throws. */
export interface ContentSink {
  write(item: ContentItem): void
}

/** `turn` counts from 1; 0 is what a load replayed. */
export type ContentItem = { turn: number } & ContentBody
export type ContentBody =
  | { kind: 'text'; role: 'user' | 'agent' | 'thought'; messageId: string; text: string }
  | {
      kind: 'tool'
      toolCallId: string
      phase: 'started' | 'updated' | 'finished'
      tool: ToolKind
      name: string | null
      title: string
      status: ToolStatus
      paths: readonly string[]
      content: readonly ToolContent[]
    }
  | { kind: 'plan'; entries: readonly PlanEntry[] }
  | { kind: 'usage'; usage: Usage }
  | { kind: 'title'; title: string }
  | { kind: 'commands'; commands: readonly { name: string; description: string }[] }
  /** Content of this many bytes was left out. */
  | { kind: 'gap'; bytes: number }
  | {
      kind: 'retrying'
      attempt: number
      maxAttempts: number | null
      httpStatus: number | null
      retryAfterMs: number
    }

// ---- permissions

export type PermissionMode = 'read_only' | 'ask' | 'edits' | 'anything'
export type DecidedBy =
  | 'rule'
  | 'policy'
  | 'person'
  | 'unattended'
  | 'expired'
  | 'withdrawn'
  | 'cancelled'
  | 'bounds'
  | 'unsafe'
  /** The agent refused by itself and told us. */
  | 'agent'

export interface PermissionRules {
  /** The mode the agent must run in and confirm. */
  mode: PermissionMode
  /** Allowed without asking anyone. */
  allowKinds: readonly ToolKind[]
  /** Servers whose every tool is allowed without asking. */
  allowMcpServers: readonly string[]
  /** Nobody to ask: what the rules do not allow is refused at once. */
  unattended: boolean
  /** The sandbox an agent has of its own (Codex), in `ask`. Default `none`. */
  sandbox?: 'workspace' | 'none'
}

export interface PermissionPolicy {
  /** Stable for the life of a session. */
  rules(): PermissionRules
  /** May wait for a person. `signal` aborts on withdrawal, cancel, close, or after `decisionMs`. */
  decide(request: PermissionRequest, signal: AbortSignal): Promise<PermissionDecision>
  /** Once per `decide`: the answer's bytes were taken by the pipe, or never will be. */
  told(requestId: string, how: 'sent' | 'withdrawn' | 'lost'): void
}

export interface PermissionRequest {
  /** From `Ids`, never the agent's. */
  requestId: string
  toolCallId: string
  /** The agent's own name of the tool; '' when it gave none in a trusted form. */
  tool: string
  kind: ToolKind
  /** Absolute paths as the agent names them, cut to bounds. */
  locations: readonly string[]
  /** Exact but for registered secrets. */
  action: PermissionAction
  /** False: cut, or not all of it is known; policy takes it as high risk. */
  complete: boolean
}

export interface PermissionDecision {
  allow: boolean
  by: 'policy' | 'person' | 'expired' | 'withdrawn' | 'cancelled'
  /** At most 500 characters; told to the agent by `Session.refusalReason`. */
  reason: string | null
}

/** What is no tool permission: questions, forms, links, wider rights. */
export interface InteractionPort {
  ask(
    request: InteractionRequest,
    signal: AbortSignal,
  ): Promise<{ kind: 'answered'; body: unknown } | { kind: 'declined' }>
  /** Once per `ask`: the answer's bytes were taken by the pipe, or never will be. */
  told?(requestId: string, how: 'sent' | 'lost'): void
}

export interface InteractionRequest {
  requestId: string
  kind: 'question' | 'form' | 'external_action' | 'permission_approval'
  toolCallId: string | null
  /**
   * At most 64 KiB; the owner parses it. Of a `question` and a `form` it is a `QuestionForm`, and the answer's body a
   * `FormAnswer`, whatever the agent's own form of them is.
   */
  body: unknown
}

/** Never the call's input. */
export interface Refusal {
  workerId: string
  toolCallId: string
  tool: string
  by: DecidedBy
  atMs: number
}

/** Synchronous. A throw is counted, the refusal still stands. */
export interface RefusalRecorder {
  record(refusal: Refusal): void
}

// ---- processes

export interface ProcessIdentity {
  pid: number
  /** Equal to `pid` for every worker Wheelhouse starts. */
  pgid: number
  /** Linux `boot_id`, macOS `kern.bootsessionuuid`. */
  bootId: string
  /** Linux: `stat` field 22 in ticks, verbatim; macOS: `lstart` in UTC. */
  startToken: string
  /** False: the kernel could not be asked. No ground for a signal. */
  exact: boolean
  /** Wall clock, for display only. */
  startedAtMs: number
}

/** `requested`: release had begun. */
export interface Exit {
  code: number | null
  signal: string | null
  requested: boolean
  error: string | null
}

/** What every driver starts through; no driver spawns on its own. */
export interface Worker {
  readonly workerId: string
  readonly process: ProcessIdentity
  readonly exited: Promise<Exit>
  /**
   * One line (the line break is added), in order. Resolves once the pipe took it.
   * @throws WorkerError `stdin_stuck` (the queue is full), `session_ended`, `aborted`.
   */
  write(line: string, signal?: AbortSignal): Promise<void>
  /**
   * One reader, in wire order. What came before the call is kept. The bytes are valid during the call alone; where it
   * answers a promise, the next line comes once that settles.
   */
  lines(
    onLine: (utf8: Uint8Array) => void | Promise<void>,
    onEnd: (why: 'eof' | 'line_too_long' | 'error') => void,
  ): void
  /** Redacted; the last non-empty line, '' when there is none. */
  stderrTail(): string
  /** Redacted; the last 50 non-empty lines. */
  stderrLines(): string[]
  /** Empties the file on descriptor 3: the agent has read its key. */
  dropKey(): void
  /** TERM, then KILL, to those of the family that began within the last `withinMs`. The worker lives on. */
  endFamily(withinMs: number): Promise<void>
  /** Runs first in a release: with a turn in flight, the driver's cancel, unawaited. */
  onRelease(first: () => void): void
  release(options?: CloseOptions): Promise<ReleaseOutcome>
}

/** One of the family that outlived SIGKILL: the release is HELD. */
export interface Stray {
  pid: number
  startToken: string
}

export type HeldReason = 'group_outlived_leader' | 'identity_unknown' | 'platform_unsupported'
export type ReleaseOutcome =
  | { kind: 'gone'; strongest: 'none' | 'stdin' | 'term' | 'kill'; strays: readonly Stray[] }
  | { kind: 'held'; reason: HeldReason; members: number | null; strays: readonly Stray[] }

/** `false`: nothing of it is left. `null`: members without their leader, or no answer. */
export type Ownership = { owns: true } | { owns: false } | { owns: null; reason: HeldReason }

export type TermSignal = 'SIGTERM' | 'SIGKILL'

/** The platform seam; the ONLY code that reads process tables or signals. */
export interface ProcessTable {
  readonly supported: boolean
  /** Null: no such process, or a zombie (which `zombies` lets pass: a child that died before it was looked at). */
  lookup(pid: number, options?: { zombies: boolean }): Promise<ProcessIdentity | null>
  owns(process: ProcessIdentity): Promise<Ownership>
  /** Group and kernel session, no zombies; null: cannot say. */
  members(process: ProcessIdentity): Promise<readonly ProcessIdentity[] | null>
  /** Outside both: descendants by parent and, on Linux, whoever carries the worker's mark. */
  family(process: ProcessIdentity, workerId: string): Promise<readonly ProcessIdentity[]>
  /** Those of them that live; all, where that cannot be said. */
  living(members: readonly ProcessIdentity[]): Promise<readonly ProcessIdentity[]>
  /** Processes that carry the mark, whatever their leader; null: cannot say. For a start that left no identity. */
  marked(workerId: string): Promise<readonly ProcessIdentity[] | null>
  /** Establishes ownership again every time. */
  signal(process: ProcessIdentity, signal: TermSignal): Promise<'sent' | 'nothing' | 'refused'>
  /** One process by its own identity, whatever its group. */
  signalOne(process: ProcessIdentity, signal: TermSignal): Promise<'sent' | 'nothing' | 'refused'>
  confirmGone(process: ProcessIdentity, ms: number): Promise<ReleaseOutcome>
  /** Its group, its session and the descendants of its leader, this user's alone; no mark is believed. Null: cannot say. */
  tree(process: ProcessIdentity): Promise<readonly ProcessIdentity[] | null>
}

// ---- the task token

/**
 * What became of an attempt to take the token. After `delivered` and `undelivered` it may be taken again; the others are
 * the end of it. `spent`: the worker's bridge was started more often than its budget allows.
 */
export type Handoff = 'delivered' | 'undelivered' | 'refused' | 'expired' | 'closed' | 'spent'

/** Hands one token to one process of a worker's tree at a time. */
export interface TokenSocket {
  readonly path: string
  /** The folder it lies in: where its path was too long, another one than was asked for. */
  readonly dir: string
  /** Who has the token now. */
  readonly taker: ProcessIdentity | null
  onHandoff(listener: (handoff: Handoff) => void): void
  /** Names the worker whose tree may take it. */
  arm(worker: ProcessIdentity): void
  /** Idempotent. */
  close(): Promise<void>
}

/** Proves that the peer of a connection is a process of the worker's tree, of this user. */
export interface PeerProver {
  /** Null: no proof. */
  prove(connection: TokenPeer, worker: ProcessIdentity, signal: AbortSignal): Promise<ProcessIdentity | null>
}

/** The other side of the token's socket. */
export interface TokenPeer {
  /** The folder that both sides reach. */
  readonly dir: string
  send(frame: unknown): void
  /** The next frame; rejects when the peer goes or `signal` aborts. */
  receive(signal: AbortSignal): Promise<unknown>
}

// ---- launchers, preflight, redaction

export interface Scope {
  runId: string
  workerId: string
  workDir: string
  privateDir: string
  /** Where the worker's sockets lie: `TokenSocket.dir`, or the private folder where there is none. */
  socketDir: string
  /** Absolute paths. Null: not confined. */
  confine: null | Confine
}

/** Of two folders one of which lies in the other, what is said of the inner one holds there. */
export interface Confine {
  network: 'host' | 'none'
  writable: readonly string[]
  /** Also where something above it is writable. One that is not there is no error. */
  readOnly: readonly string[]
  /** Empty at the start, writable, and gone with the worker; what lies there is not seen. */
  scratch?: readonly string[]
}

export interface Command {
  path: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
}

export interface Launcher {
  readonly name: string
  /** @throws WorkerError `launch_scope_unsupported`: it cannot honour the whole scope. */
  launch(
    request: { scope: Scope; command: Command },
    signal: AbortSignal,
  ): Promise<{ command: Command; workDir: string }>
  receipts(workerId: string, signal: AbortSignal): Promise<readonly Receipt[]>
}

/** What the launcher itself saw the worker do. */
export interface Receipt {
  kind: string
  id: string
  url: string | null
  atMs: number
}

export interface PreflightCheck {
  /** `platform` is told where it fails alone: nothing was started then. */
  name: 'platform' | 'starts' | 'flags' | 'handshake' | 'login'
  status: 'pass' | 'fail' | 'warn'
  message: string
  hint?: string
}

export interface Preflight {
  product: string
  path: string | null
  version: string | null
  checks: readonly PreflightCheck[]
  /** The first check that failed. */
  failed: PreflightCheck | null
}

export interface PreflightRequest {
  env: Readonly<Record<string, string>>
  route: RoutePlan | null
  privateDir: string
  profile?: AgentProfile
}

export interface ProbeResult {
  stdout: string
  stderr: string
  exit: number | null
  notFound: boolean
  timedOut: boolean
  error: string | null
}

/** What must never be seen: secrets, values of `env` not of the base set, paths under `dirs`. */
export interface Redaction {
  secrets: readonly Secret[]
  env: Readonly<Record<string, string>>
  dirs: readonly string[]
}

export interface Redactor {
  /** All rules of one text. */
  sanitize: (text: string) => string
  /** One line for an error: sanitized, no control characters or escapes, at most 120 characters. */
  line: (text: string) => string
  /** The last 50 non-empty lines, each of at most 300 bytes. */
  lines(text: string): string[]
  /** Registered secrets alone: for content and for a permission's exact action. */
  exact: (text: string) => string
  /** `exact` of a text that goes on: what may be the beginning of a secret at its end is left out. */
  beginning(text: string): string
  /** The stream form of `exact`. */
  stream(): { push(chunk: string): string; end(): string }
  error(thrown: unknown): WorkerError
  /** Message and every field, nested ones too. */
  log(to: Log): Log
  with(more: Partial<Redaction>): Redactor
}

// ---- the door

export type WorkerState =
  | { kind: 'starting' | 'live' | 'releasing'; sinceMs: number }
  | { kind: 'held'; reason: HeldReason; sinceMs: number }
  | { kind: 'released'; exit: Exit | null }

export interface WorkerRecord {
  workerId: string
  runId: string
  /** Null: a bare process. */
  driver: DriverName | null
  product: string
  process: ProcessIdentity | null
  state: WorkerState
}

export interface SpawnConfig {
  workerId: string
  runId: string
  product: string
  /** `env` exactly as given, plus the worker's mark. */
  command: Command
  redaction: Redaction
  onStarted(process: ProcessIdentity): Promise<void>
  limits?: Partial<Limits>
}

export interface Workers {
  driver(name: DriverName): Driver
  /**
   * Slot, start, the one retry.
   * @throws WorkerError with `started`: `workers_full`, `session_in_use`, `platform_unsupported`, `worker_not_started`,
   * `worker_unusable`, and every way a handshake fails.
   */
  open(driver: DriverName, cfg: SessionConfig, options: { load?: string }, signal: AbortSignal): Promise<Session>
  /** A bare supervised process under the same rules. */
  spawn(cfg: SpawnConfig, signal: AbortSignal): Promise<Worker>
  /**
   * Ends a worker of an earlier host process. `recorded` null: it never told its identity and is looked for by its mark.
   * Also ends one of this process that is HELD.
   */
  reap(workerId: string, recorded: ProcessIdentity | null, options?: CloseOptions): Promise<ReleaseOutcome>
  /** Private folders of workers that are not in `keep`. */
  sweep(keep: ReadonlySet<string>): Promise<{ removed: number; kept: number }>
  /**
   * A socket that hands `token` to the worker's MCP bridge, in `socketDir` or, where that path is too long for a socket, in
   * a short folder of its own. @throws WorkerError `socket_path_too_long`, `private_dir_failed`.
   */
  serveToken(token: Secret, socketDir: string): Promise<TokenSocket>
  /** A fresh private folder for a worker, 0700, below the data folder. @throws WorkerError `private_dir_failed`. */
  privateDir(workerId: string): Promise<string>
  /** Live and HELD. */
  list(): readonly WorkerRecord[]
  /** A person gives a HELD slot free; signals nothing. @throws WorkerError `worker_unknown`, `worker_not_held`. */
  settle(workerId: string): void
  closeAll(options?: CloseOptions): Promise<ReadonlyMap<string, ReleaseOutcome>>
}
