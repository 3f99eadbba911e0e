/** What the app-server asks that is no tool permission: questions, forms, links, wider rights. */
import { z } from 'zod'
import { FormAnswer } from '../../../../shared/questions.ts'
import type { QuestionForm } from '../../../../shared/questions.ts'
import { elicitedForm } from '../shared/elicitation.ts'
import type { Conversation, RpcPeer, WireId } from '../shared/types.ts'
import type { Elicitation, PermissionsQuestion, UserInputQuestion } from './wire.ts'

export const DECLINED = { action: 'decline', content: null, _meta: null } as const

const Granted = z.object({ granted: z.literal(true) })

export interface Interactions {
  elicitation(wireId: WireId, asked: Elicitation, body: unknown, ours: boolean): void
  /** Null: it cannot be read, or is not ours. Granted rights are those asked, for the turn. */
  permissions(wireId: WireId, asked: z.infer<typeof PermissionsQuestion> | null): void
  /** Null: it cannot be read, or is not ours. */
  userInput(wireId: WireId, asked: UserInputQuestion | null): void
}

export interface InteractionsParts {
  conversation: Pick<Conversation, 'interaction' | 'refused'>
  peer: Pick<RpcPeer, 'respond'>
}

export function createInteractions({ conversation, peer }: InteractionsParts): Interactions {
  return {
    elicitation(wireId, { mode }, body, ours) {
      const elicited = ours && mode === 'form' ? elicitedForm(body) : null
      const request =
        elicited !== null
          ? ({ kind: 'form', toolCallId: null, body: elicited.form } as const)
          : ours && mode === 'url'
            ? ({ kind: 'external_action', toolCallId: null, body } as const)
            : null
      conversation.interaction({
        wireId,
        request,
        reply(answered) {
          if (answered === null) return peer.respond(wireId, DECLINED)
          const answer = FormAnswer.safeParse(answered.body)
          const content = elicited !== null && answer.success ? elicited.contentOf(answer.data) : null
          return peer.respond(wireId, { action: 'accept', content, _meta: null })
        },
      })
    },
    permissions(wireId, asked) {
      conversation.interaction({
        wireId,
        request:
          asked === null ? null : { kind: 'permission_approval', toolCallId: asked.itemId, body: asked.permissions },
        reply(answered) {
          if (asked !== null && answered !== null && Granted.safeParse(answered.body).success) {
            return peer.respond(wireId, { permissions: asked.permissions, scope: 'turn' })
          }
          conversation.refused(asked?.itemId ?? '', 'permissions', 'other')
          return peer.respond(wireId, { permissions: {}, scope: 'turn' })
        },
      })
    },
    userInput(wireId, asked) {
      const form = asked === null ? null : formOf(asked)
      conversation.interaction({
        wireId,
        request: asked === null || form === null ? null : { kind: 'question', toolCallId: asked.itemId, body: form },
        reply(answered) {
          const answer = FormAnswer.safeParse(answered?.body)
          const answers = Object.entries(answer.success ? answer.data : {}).map(([id, value]) => [
            id,
            { answers: Array.isArray(value) ? value : [`${value}`] },
          ])
          return peer.respond(wireId, { answers: Object.fromEntries(answers) })
        },
      })
    },
  }
}

/** Null: an answer that must not be seen cannot be given here. */
function formOf({ questions }: UserInputQuestion): QuestionForm | null {
  if (questions.length === 0 || questions.some(({ isSecret }) => isSecret)) return null
  return {
    text: '',
    fields: questions.map(({ id, header, question, options, isOther }) => ({
      id,
      label: header === '' ? question : `${header}: ${question}`,
      kind: options === null || options === undefined || options.length === 0 ? 'text' : 'choice',
      options: [...(options ?? [])],
      other: isOther,
      required: true,
    })),
  }
}
