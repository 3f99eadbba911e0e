/** What is no tool permission: questions, forms, links, wider rights. Without somebody who takes them, declined. */
import { z } from 'zod'
import type { Ids } from '../../../platform/types.ts'
import type { InteractionPort, InteractionRequest } from '../../types.ts'
import type { Conversation, RpcPeer, WireId } from '../shared/types.ts'
import type { Elicitation, PermissionsQuestion, UserInputQuestion } from './wire.ts'

const BODY_BYTES = 65_536

export const DECLINED = { action: 'decline', content: null, _meta: null } as const

/** What the owner's answer to a set of questions has to be. */
const Answers = z.record(z.string(), z.object({ answers: z.array(z.string()) }))
const Granted = z.object({ granted: z.literal(true) })

export interface Interactions {
  elicitation(wireId: WireId, asked: Elicitation, body: unknown, ours: boolean): void
  /** Null: it cannot be read, or is not ours. Granted rights are those asked, for the turn. */
  permissions(wireId: WireId, asked: z.infer<typeof PermissionsQuestion> | null): void
  userInput(wireId: WireId, asked: z.infer<typeof UserInputQuestion> | null, body: unknown): void
  withdraw(wireId: WireId): void
  /** The turn or the session is over. */
  abortAll(): void
}

export interface InteractionsParts {
  conversation: Conversation
  peer: Pick<RpcPeer, 'respond'>
  port: InteractionPort | undefined
  ids: Ids
}

export function createInteractions({ conversation, peer, port, ids }: InteractionsParts): Interactions {
  const open = new Map<WireId, AbortController>()

  async function answerOf(
    wireId: WireId,
    request: Omit<InteractionRequest, 'requestId'>,
  ): Promise<{ body: unknown } | null> {
    if (port === undefined || conversation.turn === null || conversation.turn.cancelAsked) return null
    if (open.size >= conversation.limits.decisions) return null
    if (Buffer.byteLength(JSON.stringify(request.body) ?? '') > BODY_BYTES) return null
    const abort = new AbortController()
    open.set(wireId, abort)
    const gone = new Promise<null>((resolve) => abort.signal.addEventListener('abort', () => resolve(null)))
    try {
      const answer = await Promise.race([port.ask({ requestId: ids.next(), ...request }, abort.signal), gone])
      return answer?.kind === 'answered' ? { body: answer.body } : null
    } catch {
      return null
    } finally {
      open.delete(wireId)
    }
  }

  /** `answered` null: declined. */
  function put(
    wireId: WireId,
    request: Omit<InteractionRequest, 'requestId'> | null,
    reply: (answered: { body: unknown } | null) => unknown,
  ): void {
    const answered = request === null ? Promise.resolve(null) : answerOf(wireId, request)
    void answered
      .then((given) => peer.respond(wireId, reply(given)))
      .catch(() => {
        // The session ends, and with it the question.
      })
  }

  return {
    elicitation(wireId, { mode }, body, ours) {
      const kind = mode === 'form' ? 'form' : mode === 'url' ? 'external_action' : null
      put(wireId, ours && kind !== null ? { kind, toolCallId: null, body } : null, (answered) =>
        answered === null
          ? DECLINED
          : { action: 'accept', content: kind === 'form' ? answered.body : null, _meta: null },
      )
    },
    permissions(wireId, asked) {
      const request = asked === null ? null : permissionRequest(asked)
      put(wireId, request, (answered) => {
        if (asked !== null && answered !== null && Granted.safeParse(answered.body).success) {
          return { permissions: asked.permissions, scope: 'turn' }
        }
        conversation.refused(asked?.itemId ?? '', 'permissions', 'other')
        return { permissions: {}, scope: 'turn' }
      })
    },
    userInput(wireId, asked, body) {
      const request = asked === null ? null : ({ kind: 'question', toolCallId: asked.itemId, body } as const)
      put(wireId, request, (answered) => {
        const answers = Answers.safeParse(answered?.body)
        return { answers: answers.success ? answers.data : {} }
      })
    },
    withdraw: (wireId) => open.get(wireId)?.abort(),
    abortAll() {
      for (const abort of open.values()) abort.abort()
    },
  }
}

function permissionRequest(asked: z.infer<typeof PermissionsQuestion>): Omit<InteractionRequest, 'requestId'> {
  return { kind: 'permission_approval', toolCallId: asked.itemId, body: asked.permissions }
}
