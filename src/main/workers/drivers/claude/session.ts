/**
 * One Claude Code over stream-json as a session. Its lines are handled in their order, in the reader; a turn runs from our
 * message to its result.
 */
import type { z } from 'zod'
import type { Prompt } from '../../../../shared/vocabulary.ts'
import { WorkerError } from '../../errors.ts'
import type { Session, SessionFacts } from '../../types.ts'
import { createConversation } from '../shared/conversation.ts'
import { isObject } from '../shared/is-object.ts'
import type { Dialect, DriverDeps, StartedWorker } from '../shared/types.ts'
import { createControl } from './control.ts'
import { CLAUDE_MODE, asksForAll, removeMcpFile } from './launch.ts'
import type { Opening } from './launch.ts'
import { createUsageMeter, turnEnd } from './outcome.ts'
import { createProof, mismatch } from './proof.ts'
import { promptContent } from './prompt.ts'
import { HOOK, createQuestions } from './questions.ts'
import { toolList } from './tools.ts'
import { createTranscript } from './transcript.ts'
import { ApiRetry, Init, Initialized, McpStatus, PermissionDenied, Result, Status } from './wire.ts'

export const PRODUCT = 'Claude Code'

const MCP_POLL_MS = 50
/** The person's own servers are waited for, so that the first turn has them, but no longer than this. */
const USERS_MCP_MS = 5_000

/** @throws WorkerError with `started`: every way a handshake fails. */
export async function openSession(
  deps: DriverDeps,
  started: StartedWorker,
  opening: Opening,
  mcpFile: string | null,
  signal: AbortSignal,
): Promise<Session> {
  const { cfg, worker } = started
  const { clock, ids } = deps
  const { mode } = cfg.policy.rules()
  const hooked = asksForAll(mode)
  const { sessionId } = opening
  /** A turn that the program began by itself, such as for a command that ended in the background. */
  let foreign = false
  /** Its turn has opened: what comes before belongs to nobody. */
  let began = false
  /** The interrupt was answered before the turn had opened, and thereby for nothing. */
  let interruptedEarly = false
  /** Told with the first turn, for what comes before belongs to none. */
  let commands: z.infer<typeof Initialized>['commands'] = []

  const dialect: Dialect = {
    startTurn(_turn, prompt) {
      if (foreign) {
        return Promise.reject(
          new WorkerError('turn_in_flight', 'Claude Code still runs a turn that it began by itself.'),
        )
      }
      began = false
      interruptedEarly = false
      meter.beginTurn()
      transcript.beginTurn()
      return writePrompt(prompt)
    },
    cancelTurn: () => interrupt(),
  }
  const conversation = createConversation({ started, deps, product: PRODUCT, mode, dialect })
  const { redactor } = conversation
  const facts: SessionFacts = {
    agentName: 'claude',
    agentVersion: '',
    model: cfg.model ?? null,
    mode,
    modeVerified: false,
    loaded: opening.kind === 'load',
  }
  const control = createControl({
    worker,
    conversation,
    ids,
    asked: (id, subtype, request) => questions.asked(id, subtype, request),
  })
  const meter = createUsageMeter(() => facts.model)
  const transcript = createTranscript({
    conversation,
    used(counts) {
      const usage = meter.request(counts)
      if (usage !== null && conversation.turn !== null) conversation.content({ kind: 'usage', usage })
    },
    succeeded(toolCallId) {
      if (!hooked || questions.wasAsked(toolCallId)) return
      conversation.unsafe('Claude Code ran a tool without asking.', redactor.line(toolCallId))
    },
  })
  const questions = createQuestions({ conversation, control, transcript, cwd: cfg.cwd })
  const proof = createProof({
    conversation,
    cfg,
    sessionId,
    mode: CLAUDE_MODE[mode],
    tools: toolList(mode, cfg),
    facts,
  })

  function writePrompt(prompt: Prompt): Promise<void> {
    const write = (content: unknown): Promise<void> =>
      worker.write(
        JSON.stringify({
          type: 'user',
          uuid: ids.next(),
          message: { role: 'user', content },
          parent_tool_use_id: null,
          session_id: sessionId,
        }),
      )
    const content = promptContent(prompt)
    return content instanceof Promise ? content.then(write) : write(content)
  }

  function interrupt(): Promise<void> {
    return control.send({ subtype: 'interrupt' }, () => {
      if (!began) interruptedEarly = true
    })
  }

  function opened(line: unknown): void {
    const init = Init.safeParse(line)
    if (!init.success) return conversation.unsafe('Claude Code does not say which mode it is in.')
    proof.told(init.data)
    void removeMcpFile(mcpFile)
    if (conversation.turn === null) {
      foreign = true
      deps.log.info('a turn that nobody here began is interrupted')
      void interrupt().catch(() => undefined)
      return
    }
    began = true
    if (commands.length > 0) conversation.content({ kind: 'commands', commands })
    commands = []
    if (interruptedEarly && conversation.turn.cancelAsked) void interrupt().catch(() => undefined)
  }

  function system(line: Readonly<Record<string, unknown>>): void {
    switch (line['subtype']) {
      case 'init':
        return opened(line)
      case 'status': {
        const read = Status.safeParse(line)
        if (read.success && read.data.permissionMode !== undefined) proof.toldMode(read.data.permissionMode)
        return
      }
      case 'api_retry': {
        const read = ApiRetry.safeParse(line)
        if (!read.success || conversation.turn === null) return
        const { attempt, max_retries: most, retry_delay_ms: delay, error_status: status } = read.data
        return conversation.content({
          kind: 'retrying',
          attempt,
          maxAttempts: most ?? null,
          httpStatus: status ?? null,
          retryAfterMs: Math.round(delay),
        })
      }
      case 'permission_denied': {
        const read = PermissionDenied.safeParse(line)
        if (read.success) conversation.refused(read.data.tool_use_id, read.data.tool_name, 'other')
        return
      }
      default:
    }
  }

  function ended(line: unknown): void {
    const read = Result.safeParse(line)
    if (!read.success) {
      return conversation.settle({
        kind: 'failed',
        error: new WorkerError('stop_unknown', 'Claude Code ended its turn in an unknown way.'),
      })
    }
    const result = read.data
    if (lost(result)) {
      return conversation.fail(
        new WorkerError('agent_session_not_found', 'Claude Code does not know this conversation any more.'),
      )
    }
    if (foreign) {
      foreign = false
      return
    }
    if (conversation.turn === null) return
    if (!began) {
      return conversation.fail(
        new WorkerError('session_unverified', 'Claude Code ended a turn before it proved its permission mode.'),
      )
    }
    for (const denied of result.permission_denials ?? []) {
      conversation.refused(denied.tool_use_id, denied.tool_name, 'other')
    }
    conversation.settle(turnEnd(result, transcript.failure, meter.result(result), redactor))
  }

  /** Said in place of the first answer, before the program leaves. */
  function lost({ errors }: Result): boolean {
    return opening.kind !== 'new' && !began && errors?.some((text) => text.startsWith('No conversation found')) === true
  }

  conversation.read((line, bytes) => {
    if (!isObject(line) || typeof line['type'] !== 'string') return conversation.invalidLine(bytes)
    switch (line['type']) {
      case 'stream_event':
        return transcript.streamed(line)
      case 'assistant':
        return transcript.assistant(line)
      case 'user':
        return transcript.user(line)
      case 'system':
        return system(line)
      case 'result':
        return ended(line)
      case 'control_request':
        return control.readRequest(line)
      case 'control_response':
        return control.readResponse(line)
      case 'control_cancel_request': {
        const { request_id: id } = line
        if (typeof id === 'string' || typeof id === 'number') conversation.withdraw(id)
        return
      }
      default:
    }
  })

  async function handshake(inner: AbortSignal): Promise<void> {
    const hooks = hooked ? { PreToolUse: [{ matcher: '*', hookCallbackIds: [HOOK] }] } : null
    const initialized = await control.ask({ subtype: 'initialize', hooks }, Initialized, inner)
    commands = initialized.commands
    worker.dropKey()
    await serversReady(inner)
  }

  /** A given server that fails to come up shows in the proof; one of the person's own is not waited for without end. */
  async function serversReady(inner: AbortSignal): Promise<void> {
    const given = new Set(cfg.mcpServers.map(({ name }) => name))
    const patientUntilMs = clock.monotonicMs() + USERS_MCP_MS
    for (;;) {
      const { mcpServers } = await control.ask({ subtype: 'mcp_status' }, McpStatus, inner)
      const pending = mcpServers.filter(({ status }) => status === 'pending')
      const own = pending.some(({ name }) => given.has(name))
      if (!own && (pending.length === 0 || clock.monotonicMs() >= patientUntilMs)) {
        for (const name of given) {
          const state = mcpServers.find((server) => server.name === name)?.status
          if (state !== 'connected') throw mismatch('A given MCP server is missing.', name)
        }
        return
      }
      await clock.sleep(MCP_POLL_MS, inner)
    }
  }

  try {
    await conversation.open(signal, handshake)
  } finally {
    if (conversation.closing) await removeMcpFile(mcpFile)
  }
  return conversation.session({
    id: sessionId,
    facts,
    refusalReason: 'in_answer',
    runtime: () => ({ modelId: facts.model, effort: cfg.effort ?? null }),
  })
}
