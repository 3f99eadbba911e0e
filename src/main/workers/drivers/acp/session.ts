/** One ACP conversation: what the reader makes of the agent's lines, and what is sent. */
import type { Usage } from '../../../../shared/vocabulary.ts'
import { WorkerError } from '../../errors.ts'
import type { AgentProfile, ContentBody, PermissionMode, SessionFacts } from '../../types.ts'
import { createConversation } from '../shared/conversation.ts'
import { createRpcPeer } from '../shared/rpc-peer.ts'
import type { Conversation, Dialect, DriverDeps, RpcPeer, RpcReply, StartedWorker, TurnEnd } from '../shared/types.ts'
import { modeOption, optionOf, textOf } from './modes.ts'
import { createQuestions } from './questions.ts'
import { promptBlocks } from './prompt.ts'
import { createToolCalls } from './tools.ts'
import { CancelRequest, FailureData, PromptReply, readUpdate } from './wire.ts'
import type { ConfigOption, SessionUpdate } from './wire.ts'

const AUTH_REQUIRED = -32_000
const METHOD_NOT_FOUND = -32_601
const STOPS: ReadonlySet<string> = new Set(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'])

export interface AcpConversation {
  conversation: Conversation
  peer: RpcPeer
  facts: SessionFacts
  /** The session that updates and questions must name; null while opening. */
  sessionId: string | null
  images: boolean
  /** The mode reported last, by either way. */
  reportedMode: string | null
  /** Set once the mode is proven: any other report from then on is unsafe. */
  provenMode: string | null
  /** Called with each reported mode while the proof is awaited. */
  onMode: ((mode: string) => void) | null
  runtime: { modelId: string | null; effort: string | null }
  takeOptions(options: readonly ConfigOption[]): void
}

export function createAcpConversation(
  started: StartedWorker,
  deps: DriverDeps,
  profile: AgentProfile,
  mode: PermissionMode,
): AcpConversation {
  const { worker, cfg, limits, redactor } = started
  const tools = createToolCalls(limits)
  const { product } = profile
  let lastUsage: Usage | null = null
  let messages = 0
  let lastRole = ''

  const dialect: Dialect = {
    startTurn(turn, prompt) {
      const blocks = promptBlocks(prompt, acp.images, questions.takeReasons())
      const send = (content: unknown[]): Promise<void> =>
        peer.send('session/prompt', { sessionId: acp.sessionId, prompt: content }, (reply) => {
          if (conversation.turn === turn) conversation.settle(endOf(reply))
        })
      return Array.isArray(blocks) ? send(blocks) : blocks.then(send)
    },
    cancelTurn: () => peer.notify('session/cancel', { sessionId: acp.sessionId }),
  }
  const conversation = createConversation({ started, deps, product, mode, dialect })
  const peer = createRpcPeer({
    worker,
    conversation,
    versioned: true,
    handlers: {
      notification(method, params) {
        if (method === 'session/update') readSessionUpdate(params)
        else if (method === '$/cancel_request') {
          const asked = CancelRequest.safeParse(params)
          if (asked.success) conversation.withdraw(asked.data.requestId)
        }
        // Everything else may carry the account's e-mail and passes unread.
      },
      request(id, method, params) {
        if (method === 'session/request_permission') questions.ask(id, params)
        else if (method === 'elicitation/create' && cfg.interactions !== undefined) questions.elicit(id, params)
        else void peer.respondError(id, METHOD_NOT_FOUND, 'Method not found').catch(() => undefined)
      },
    },
  })
  const questions = createQuestions({
    conversation,
    peer,
    tools,
    cwd: cfg.cwd,
    reasonInAnswer: profile.reasonInAnswer,
    isOurs: (sessionId) => sessionId === acp.sessionId,
  })

  const acp: AcpConversation = {
    conversation,
    peer,
    facts: {
      agentName: profile.product,
      agentVersion: '',
      model: cfg.model ?? null,
      mode,
      modeVerified: false,
      loaded: false,
    },
    sessionId: null,
    images: false,
    reportedMode: null,
    provenMode: null,
    onMode: null,
    runtime: { modelId: cfg.model ?? null, effort: cfg.effort ?? null },
    takeOptions,
  }

  function readSessionUpdate(params: unknown): void {
    const read = readUpdate(params)
    if (read === 'unknown') return
    if (read === 'invalid') return conversation.invalidLine(JSON.stringify(params ?? null).length)
    // While opening, an agent may report before it has told the session's id; another session's news is not ours.
    if (acp.sessionId !== null && read.sessionId !== acp.sessionId) return
    takeUpdate(read.update)
  }

  function takeUpdate(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case 'user_message_chunk':
        return takeText('user', update)
      case 'agent_message_chunk':
        return takeText('agent', update)
      case 'agent_thought_chunk':
        return takeText('thought', update)
      case 'tool_call':
      case 'tool_call_update': {
        lastRole = ''
        const { tool, first } = tools.merge(update)
        return conversation.content(tools.body(update.toolCallId, tool, first))
      }
      case 'plan': {
        const entries = update.entries.map((entry) => ({ ...entry, priority: entry.priority ?? null }))
        return conversation.content({ kind: 'plan', entries })
      }
      case 'available_commands_update':
        return conversation.content({ kind: 'commands', commands: update.availableCommands })
      case 'current_mode_update':
        return takeMode(update.currentModeId)
      case 'config_option_update':
        return takeOptions(update.configOptions)
      case 'session_info_update': {
        const { title } = update
        if (typeof title === 'string' && title !== '') conversation.content({ kind: 'title', title })
        return
      }
      case 'usage_update': {
        const { used, size, cost } = update
        const costUsd = cost?.currency === 'USD' ? cost.amount : null
        const none = { inputTokens: null, cachedInputTokens: null, cacheWriteTokens: null }
        const context = { contextUsed: used, contextSize: size ?? null, costUsd }
        lastUsage = { ...none, outputTokens: null, reasoningTokens: null, ...context }
        return conversation.content({ kind: 'usage', usage: lastUsage })
      }
    }
  }

  function takeText(
    role: Extract<ContentBody, { kind: 'text' }>['role'],
    { content, messageId }: { content: { type: string; text?: string }; messageId?: string | null | undefined },
  ): void {
    if (content.type !== 'text' || content.text === undefined || content.text === '') return
    // Without ids of its own, a message is what no other message or tool call interrupts.
    if (role !== lastRole) messages += 1
    lastRole = role
    conversation.content({ kind: 'text', role, messageId: messageId ?? `${role}-${messages}`, text: content.text })
  }

  function takeOptions(options: readonly ConfigOption[]): void {
    const reported = modeOption(options)
    acp.runtime.modelId = textOf(optionOf(options, 'model')?.currentValue) ?? acp.runtime.modelId
    acp.runtime.effort = textOf(optionOf(options, 'thought_level')?.currentValue) ?? acp.runtime.effort
    acp.facts.model = acp.runtime.modelId
    const current = reported === null ? null : textOf(reported.currentValue)
    if (current !== null) takeMode(current)
  }

  function takeMode(current: string): void {
    acp.reportedMode = current
    acp.onMode?.(current)
    if (acp.provenMode !== null && current !== acp.provenMode) {
      conversation.unsafe(`${product} left its permission mode.`, `it reports ${redactor.line(current)}`)
    }
  }

  function endOf(reply: RpcReply): TurnEnd {
    if (!reply.ok) return { kind: 'failed', error: turnError(reply) }
    const parsed = PromptReply.safeParse(reply.result)
    if (!parsed.success) {
      return { kind: 'failed', error: new WorkerError('stop_unknown', `${product} ended its turn in an unknown way.`) }
    }
    const { stopReason } = parsed.data
    if (!isStop(stopReason)) {
      const detail = redactor.line(stopReason)
      return { kind: 'failed', error: new WorkerError('stop_unknown', `${product} ended its turn oddly.`, { detail }) }
    }
    return { kind: 'stopped', stop: stopReason, usage: usageOf(parsed.data) }
  }

  function usageOf({ usage }: PromptReply): Usage | null {
    const context = lastUsage
    if (usage === null || usage === undefined) return context
    return {
      inputTokens: usage.inputTokens ?? null,
      cachedInputTokens: usage.cachedReadTokens ?? null,
      cacheWriteTokens: usage.cachedWriteTokens ?? null,
      outputTokens: usage.outputTokens ?? null,
      reasoningTokens: usage.thoughtTokens ?? null,
      contextUsed: context?.contextUsed ?? null,
      contextSize: context?.contextSize ?? null,
      costUsd: context?.costUsd ?? null,
    }
  }

  function turnError(reply: Extract<RpcReply, { ok: false }>): WorkerError {
    const detail = redactor.line(reply.message)
    if (reply.code === AUTH_REQUIRED) {
      return new WorkerError('login_required', `${product} is not logged in. ${profile.loginHint}`, { detail })
    }
    const said = FailureData.safeParse(reply.data)
    const data = said.success ? said.data : undefined
    return new WorkerError('turn_failed', `${product} could not finish its turn.`, { detail, data })
  }

  conversation.read(peer.read)
  return acp
}

type Stop = Extract<TurnEnd, { kind: 'stopped' }>['stop']
function isStop(text: string): text is Stop {
  return STOPS.has(text)
}
