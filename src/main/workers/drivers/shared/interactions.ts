/**
 * What an agent asks that is no tool permission. Without somebody who takes it, outside a turn, too large or one too many,
 * it is declined; it is answered once, and ends with its turn.
 */
import type { Ids, Log } from '../../../platform/types.ts'
import type { Limits } from '../../limits.ts'
import type { InteractionPort, InteractionRequest } from '../../types.ts'
import type { Interaction, WireId } from './types.ts'

const BODY_BYTES = 65_536

export interface InteractionDesk {
  put(interaction: Interaction): void
  withdraw(wireId: WireId): void
  /** The turn or the session is over, or is to be. */
  abortAll(): void
}

export interface InteractionDeskParts {
  port: InteractionPort | undefined
  ids: Ids
  log: Log
  limits: Limits
  mayAsk(): boolean
  /** Registered secrets are replaced before anybody is asked. */
  exact(text: string): string
}

export function createInteractionDesk({
  port,
  ids,
  log,
  limits,
  mayAsk,
  exact,
}: InteractionDeskParts): InteractionDesk {
  const open = new Map<WireId, AbortController>()

  async function asked(
    to: InteractionPort,
    wireId: WireId,
    request: InteractionRequest,
  ): Promise<{ body: unknown } | null> {
    const abort = new AbortController()
    open.set(wireId, abort)
    const gone = new Promise<null>((resolve) => abort.signal.addEventListener('abort', () => resolve(null)))
    try {
      const answer = await Promise.race([to.ask(request, abort.signal), gone])
      return answer?.kind === 'answered' ? { body: answer.body } : null
    } catch (error) {
      log.warn('a question was not put to anybody', { error })
      return null
    } finally {
      open.delete(wireId)
    }
  }

  return {
    put({ wireId, request, reply }) {
      const requestId = ids.next()
      const mayBe =
        port !== undefined &&
        request !== null &&
        mayAsk() &&
        open.size < limits.decisions &&
        !open.has(wireId) &&
        Buffer.byteLength(JSON.stringify(request.body) ?? '') <= BODY_BYTES
      const answered = mayBe
        ? asked(port, wireId, { requestId, ...request, body: eachText(request.body, exact) })
        : Promise.resolve(null)
      void answered.then(reply).then(
        () => mayBe && port.told?.(requestId, 'sent'),
        // The session ends, and with it the question.
        () => mayBe && port.told?.(requestId, 'lost'),
      )
    },
    withdraw: (wireId) => open.get(wireId)?.abort(),
    abortAll() {
      for (const abort of open.values()) abort.abort()
    },
  }
}

function eachText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each: unknown) => eachText(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, eachText(each, change)]))
}
