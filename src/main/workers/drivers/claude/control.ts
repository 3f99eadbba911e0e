/**
 * The control channel that runs beside the messages: questions in both directions, each with an id of the asker's. What
 * comes is handled in the reader, synchronously with its line.
 */
import type { z } from 'zod'
import type { Ids } from '../../../platform/types.ts'
import { WorkerError } from '../../errors.ts'
import type { Worker } from '../../types.ts'
import { isObject } from '../shared/is-object.ts'
import type { Conversation, WireId } from '../shared/types.ts'

export interface ControlParts {
  worker: Worker
  conversation: Pick<Conversation, 'fail' | 'limits' | 'ended' | 'redactor'>
  ids: Ids
  /** Answers by `respond` or `refuse`, later or at once. */
  asked(id: WireId, subtype: string, request: Readonly<Record<string, unknown>>): void
}

export interface Control {
  readRequest(line: Readonly<Record<string, unknown>>): void
  readResponse(line: Readonly<Record<string, unknown>>): void
  /** Resolves once the pipe took it; `onReply` runs in the reader. */
  send(request: Readonly<Record<string, unknown>>, onReply?: () => void): Promise<void>
  /** @throws WorkerError `session_ended`, `aborted`, `handshake_failed`: an error answer, or one that cannot be read. */
  ask<T>(request: Readonly<Record<string, unknown>>, schema: z.ZodType<T>, signal: AbortSignal): Promise<T>
  respond(id: WireId, response: unknown): Promise<void>
  refuse(id: WireId, error: string): Promise<void>
}

type Reply = { ok: true; response: unknown } | { ok: false; error: string }

export function createControl({ worker, conversation, ids, asked }: ControlParts): Control {
  const { limits, redactor } = conversation
  const replies = new Map<string, (reply: Reply) => void>()
  /** Questions of the agent that have no answer yet. */
  const open = new Set<WireId>()
  let refusalsWaiting = 0

  const answer = (response: Record<string, unknown>): Promise<void> =>
    worker.write(JSON.stringify({ type: 'control_response', response }))

  /** A question that is nobody's: told so, and no more of those than the agent listens to. */
  async function turnDown(id: WireId | null, error: string): Promise<void> {
    refusalsWaiting += 1
    if (refusalsWaiting > limits.busy) {
      conversation.fail(new WorkerError('request_flood', 'Claude Code asked for more than it listened to.'))
      return
    }
    try {
      await answer({ subtype: 'error', request_id: id, error })
    } catch {
      // The session ends, and with it the question.
    } finally {
      refusalsWaiting -= 1
    }
  }

  function send(request: Readonly<Record<string, unknown>>, onReply: (reply: Reply) => void): [string, Promise<void>] {
    const id = ids.next()
    replies.set(id, onReply)
    return [id, worker.write(JSON.stringify({ type: 'control_request', request_id: id, request }))]
  }

  return {
    readRequest({ request_id: id, request }) {
      const subtype = isObject(request) ? request['subtype'] : undefined
      if (typeof id !== 'string' && typeof id !== 'number') void turnDown(null, 'Not a request id')
      else if (open.has(id)) void turnDown(id, 'This request id is in use')
      else if (open.size >= limits.handlers) void turnDown(id, 'Too many requests at once')
      else if (!isObject(request) || typeof subtype !== 'string') void turnDown(id, 'Not a request')
      else {
        open.add(id)
        try {
          asked(id, subtype, request)
        } catch (error) {
          open.delete(id)
          void turnDown(id, 'The request could not be read')
          throw error
        }
      }
    },
    readResponse({ response }) {
      // Our own answers come back too, as messages do: of those no id is waited for.
      if (!isObject(response) || typeof response['request_id'] !== 'string') return
      const onReply = replies.get(response['request_id'])
      replies.delete(response['request_id'])
      const { error } = response
      if (response['subtype'] === 'success') onReply?.({ ok: true, response: response['response'] })
      else onReply?.({ ok: false, error: typeof error === 'string' ? error : '' })
    },
    send: (request, onReply) => send(request, () => onReply?.())[1],
    ask(request, schema, signal) {
      return new Promise((resolve, reject) => {
        const [id, sent] = send(request, (reply) => {
          signal.removeEventListener('abort', abort)
          const read = reply.ok ? schema.safeParse(reply.response) : null
          if (read?.success === true) return resolve(read.data)
          const said = redactor.line(reply.ok ? 'an answer that cannot be read' : reply.error)
          reject(new WorkerError('handshake_failed', `Claude Code refused to get ready: ${said}`, { detail: said }))
        })
        const abort = (): void => leave(new WorkerError('aborted', 'The call was given up.'))
        const leave = (error: unknown): void => {
          replies.delete(id)
          reject(error)
        }
        signal.addEventListener('abort', abort, { once: true })
        sent.catch(leave)
        void conversation.ended.then(leave)
      })
    },
    respond(id, response) {
      if (!open.delete(id)) return Promise.resolve()
      return answer({ subtype: 'success', request_id: id, response })
    },
    refuse(id, error) {
      if (!open.delete(id)) return Promise.resolve()
      return answer({ subtype: 'error', request_id: id, error })
    },
  }
}
