/** `session/request_permission`: from the wire to a question, and from the answer to an option of the agent's. */
import type { Conversation, QuestionAnswer, RpcPeer, WireId } from '../shared/types.ts'
import { mcpServerOf } from '../shared/permission-gate.ts'
import { trustedName } from '../shared/content-channel.ts'
import { actionOf } from './action.ts'
import type { ToolCalls } from './tools.ts'
import { FormAnswer } from '../../../../shared/questions.ts'
import { elicitedForm } from '../shared/elicitation.ts'
import { Elicitation, PermissionParams } from './wire.ts'

const INVALID_PARAMS = -32_602
const REASONS = 16

export interface QuestionParts {
  conversation: Pick<Conversation, 'permission' | 'interaction' | 'content' | 'turn' | 'limits' | 'invalidLine'>
  peer: Pick<RpcPeer, 'respond' | 'respondError'>
  tools: ToolCalls
  cwd: string
  reasonInAnswer: boolean
  isOurs(sessionId: string): boolean
}

export interface Questions {
  ask(id: WireId, params: unknown): void
  /** A form for the person; whatever else it may be is declined. */
  elicit(id: WireId, params: unknown): void
  /** What the person said with refusals since the last prompt, for an agent that takes no reason in the answer. */
  takeReasons(): string
}

type Option = PermissionParams['options'][number]

export function createQuestions(parts: QuestionParts): Questions {
  const { conversation, peer, tools, cwd } = parts
  let reasons: string[] = []

  function answerWith(id: WireId, options: readonly Option[], toolCallId: string, title: string) {
    return async (answer: QuestionAnswer): Promise<void> => {
      if (answer.kind !== 'allow') tools.declined(toolCallId)
      const chosen = optionFor(answer, options)
      const reason = answer.kind === 'refuse' ? answer.reason : null
      if (reason !== null && !parts.reasonInAnswer && reasons.length < REASONS) {
        reasons.push(`The person refused "${title}": ${reason}`)
      }
      const meta = reason !== null && parts.reasonInAnswer ? { _meta: { wheelhouse: { reason } } } : {}
      const outcome = chosen === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen.optionId }
      await peer.respond(id, { outcome, ...meta })
    }
  }

  return {
    ask(id, params) {
      const parsed = PermissionParams.safeParse(params)
      if (!parsed.success) {
        conversation.invalidLine(0)
        void peer.respondError(id, INVALID_PARAMS, 'Invalid params').catch(() => undefined)
        return
      }
      const { sessionId, toolCall, options } = parsed.data
      const ours = parts.isOurs(sessionId)
      const { toolCallId } = toolCall
      const { tool, first } = tools.merge(ours ? toolCall : { ...toolCall, toolCallId: `foreign:${toolCallId}` })
      // Some agents announce a call by asking for it.
      if (ours && first && conversation.turn !== null) conversation.content(tools.body(toolCallId, tool, true))
      const unique = new Set(options.map(({ optionId }) => optionId)).size === options.length
      conversation.permission({
        wireId: id,
        toolCallId,
        tool: tool.name,
        mcpServer: mcpServerOf(trustedName(tool.name)),
        kind: tool.kind,
        locations: tool.paths,
        ...actionOf(tool, cwd),
        ours,
        canAllow: options.some(({ kind }) => kind === 'allow_once'),
        answerable: unique && options.length <= conversation.limits.options,
        answer: answerWith(id, options, toolCallId, tool.title),
      })
    },
    elicit(id, params) {
      const named = Elicitation.safeParse(params)
      const ours = named.success && named.data.mode === 'form' && parts.isOurs(named.data.sessionId)
      const elicited = ours ? elicitedForm(params) : null
      conversation.interaction({
        wireId: id,
        request: elicited === null ? null : { kind: 'form', toolCallId: null, body: elicited.form },
        reply(answered) {
          const answer = FormAnswer.safeParse(answered?.body)
          if (elicited === null || !answer.success) return peer.respond(id, { action: 'decline' })
          return peer.respond(id, { action: 'accept', content: elicited.contentOf(answer.data) })
        },
      })
    },
    takeReasons() {
      const told = reasons.join('\n')
      reasons = []
      return told
    },
  }
}

/** By kind alone: an id, a label or the order never selects, and nothing is ever allowed for more than once. */
function optionFor(answer: QuestionAnswer, options: readonly Option[]): Option | null {
  const first = (kind: string): Option | undefined => options.find((option) => option.kind === kind)
  if (answer.kind === 'allow') return first('allow_once') ?? null
  if (answer.kind === 'cancelled') return null
  return first('reject_once') ?? first('reject_always') ?? null
}
