/**
 * JSON-RPC over an agent's lines, for ACP and, without the `jsonrpc` field, for Codex. An own peer, because what depends on
 * the order of the wire has to happen in the reader, synchronously with the line that carries it; a library that
 * dispatches each message as a promise keeps no such order.
 */
import { WorkerError } from '../../errors.ts'
import type { Worker } from '../../types.ts'
import { isObject } from './is-object.ts'
import type { Conversation, RpcHandlers, RpcPeer, RpcReply, WireId } from './types.ts'

const INVALID_REQUEST = -32_600
const BUSY = -32_000
const INTERNAL_ERROR = -32_603

export interface RpcPeerParts {
  worker: Worker
  conversation: Pick<Conversation, 'invalidLine' | 'fail' | 'limits' | 'ended'>
  /** Whether messages carry `"jsonrpc": "2.0"`. */
  versioned: boolean
  handlers: RpcHandlers
}

export function createRpcPeer({ worker, conversation, versioned, handlers }: RpcPeerParts): RpcPeer {
  const { limits } = conversation
  const replies = new Map<number, (reply: RpcReply) => void>()
  /** Requests of the agent that have no answer yet. */
  const open = new Set<WireId>()
  const waiting = new Set<(why: unknown) => void>()
  let lastId = 0
  let refusalsWaiting = 0
  void conversation.ended.then((why) => {
    for (const leave of waiting) leave(why)
  })

  const line = (message: Record<string, unknown>): string =>
    JSON.stringify(versioned ? { jsonrpc: '2.0', ...message } : message)

  async function refuse(id: WireId | null, code: number, message: string): Promise<void> {
    refusalsWaiting += 1
    if (refusalsWaiting > limits.busy) {
      conversation.fail(new WorkerError('request_flood', 'The agent asked for more than it listened to.'))
      return
    }
    try {
      await worker.write(line({ id, error: { code, message } }))
    } catch {
      // The session ends, and with it the question.
    } finally {
      refusalsWaiting -= 1
    }
  }

  function readRequest(id: unknown, method: string, params: unknown): void {
    if (typeof id !== 'string' && typeof id !== 'number') return void refuse(null, INVALID_REQUEST, 'Not a request id')
    if (open.has(id)) return void refuse(id, INVALID_REQUEST, 'This request id is in use')
    if (open.size >= limits.handlers) return void refuse(id, BUSY, 'Too many requests at once')
    open.add(id)
    try {
      handlers.request(id, method, params)
    } catch (error) {
      // Told before it counts as a line that cannot be read: an agent that waits for ever is worse than a refusal.
      open.delete(id)
      void refuse(id, INTERNAL_ERROR, 'The request could not be read')
      throw error
    }
  }

  function readReply(message: Record<string, unknown>): void {
    const { id } = message
    const onReply = typeof id === 'number' ? replies.get(id) : undefined
    // An answer to a question that nobody asked, or that was given up.
    if (typeof id !== 'number' || onReply === undefined) return
    replies.delete(id)
    const { error } = message
    if (error === undefined) return onReply({ ok: true, result: message['result'] })
    const told = isObject(error) ? error : {}
    onReply({
      ok: false,
      code: typeof told['code'] === 'number' ? told['code'] : 0,
      message: typeof told['message'] === 'string' ? told['message'] : '',
      data: told['data'],
    })
  }

  function send(
    method: string,
    params: unknown,
    onReply: (reply: RpcReply) => void,
  ): { id: number; sent: Promise<void> } {
    lastId += 1
    const id = lastId
    replies.set(id, onReply)
    return { id, sent: worker.write(line({ id, method, params })) }
  }

  function answer(id: WireId, body: Record<string, unknown>): Promise<void> {
    if (!open.delete(id)) return Promise.resolve()
    return worker.write(line({ id, ...body }))
  }

  return {
    read(message, bytes) {
      if (!isObject(message) || (versioned && message['jsonrpc'] !== '2.0')) {
        return conversation.invalidLine(bytes)
      }
      const { method } = message
      if (typeof method === 'string') {
        if ('id' in message) readRequest(message['id'], method, message['params'])
        else handlers.notification(method, message['params'])
      } else if ('id' in message && ('result' in message || 'error' in message)) readReply(message)
      else conversation.invalidLine(bytes)
    },
    send: (method, params, onReply) => send(method, params, onReply).sent,
    request(method, params, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(new WorkerError('aborted', 'The call was given up.'))
        const { id, sent } = send(method, params, settle)
        const abort = (): void => leave(new WorkerError('aborted', 'The call was given up.'))
        signal.addEventListener('abort', abort, { once: true })
        sent.catch(leave)
        waiting.add(leave)

        function settle(reply: RpcReply): void {
          waiting.delete(leave)
          signal.removeEventListener('abort', abort)
          resolve(reply)
        }
        function leave(error: unknown): void {
          waiting.delete(leave)
          signal.removeEventListener('abort', abort)
          replies.delete(id)
          reject(error)
        }
      })
    },
    notify: (method, params) => worker.write(line({ method, params })),
    respond: (id, result) => answer(id, { result }),
    respondError: (id, code, message) => answer(id, { error: { code, message } }),
  }
}
