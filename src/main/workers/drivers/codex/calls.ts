/** Calls to the app-server: an overloaded one is asked again, an error answer is a `WorkerError` that says what it said. */
import type { z } from 'zod'
import type { ErrorCode } from '../../../../shared/errors.ts'
import type { Clock } from '../../../platform/types.ts'
import { WorkerError } from '../../errors.ts'
import type { Redactor } from '../../types.ts'
import type { RpcPeer, RpcReply } from '../shared/types.ts'

const OVERLOADED = -32_001
const RETRIES = 3
const RETRY_MS = 100

export interface Calls {
  /** An error reply is a value. @throws WorkerError `session_ended`, `aborted`. */
  ask(method: string, params: unknown, signal: AbortSignal): Promise<RpcReply>
  /** @throws WorkerError `handshake_failed` besides: an error reply, or one that cannot be read. */
  read<T>(method: string, params: unknown, schema: z.ZodType<T>, signal: AbortSignal): Promise<T>
}

export function createCalls(peer: Pick<RpcPeer, 'request'>, clock: Clock, redactor: Redactor): Calls {
  async function ask(method: string, params: unknown, signal: AbortSignal): Promise<RpcReply> {
    for (let tried = 0; ; tried += 1) {
      const reply = await peer.request(method, params, signal)
      if (!isOverloaded(reply) || tried === RETRIES) return reply
      await clock.sleep(RETRY_MS * 2 ** tried, signal)
    }
  }

  return {
    ask,
    async read(method, params, schema, signal) {
      const reply = await ask(method, params, signal)
      if (!reply.ok) throw refused('handshake_failed', method, reply.message, redactor)
      const parsed = schema.safeParse(reply.result)
      if (parsed.success) return parsed.data
      throw refused('handshake_failed', method, 'an answer that cannot be read', redactor)
    },
  }
}

export function isOverloaded(reply: RpcReply): boolean {
  return !reply.ok && reply.code === OVERLOADED
}

export function refused(code: ErrorCode, method: string, said: string, redactor: Redactor): WorkerError {
  const line = redactor.line(said)
  return new WorkerError(code, `Codex refused ${method}: ${line}`, { detail: line })
}
