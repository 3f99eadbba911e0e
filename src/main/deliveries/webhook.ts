import { Readable } from 'node:stream'
import { Agent } from 'undici'
import { AppError } from '../../shared/errors.ts'
import type { Clock, Secret } from '../platform/types.ts'
import type { ClaimedOperation, DeliveryResult, DeliveryTransport } from '../runtime/index.ts'
import { bodyOf } from './webhook-body.ts'

const CONNECT_MS = 5_000
/** Below the 20 s of an attempt, so that the transport itself says how far it got. */
const ANSWER_MS = 15_000
const RETRIED_4XX: ReadonlySet<number> = new Set([408, 425, 429])

export interface WebhookEndpoint {
  /** http or https. */
  url: string
  /** Sent as a bearer token. */
  secret: Secret | null
}

export interface WebhookDeps {
  clock: Pick<Clock, 'nowMs'>
  /** What the person set up under this name; null: nothing any more. @throws AppError: it cannot be read now. */
  endpointOf(targetId: string): Promise<WebhookEndpoint | null>
  /** The header in which the receiver looks for a key that makes a second arrival count once; null: it looks for none. */
  idempotencyHeaderOf(targetId: string): string | null
}

/**
 * Sends answers as JSON and files as multipart to an address that the person set up. Redirects are not followed: the secret
 * is for that address alone.
 */
export function createWebhook({
  clock,
  endpointOf,
  idempotencyHeaderOf,
}: WebhookDeps): DeliveryTransport & { close(): Promise<void> } {
  const agent = new Agent({
    connect: { timeout: CONNECT_MS },
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
    pipelining: 1,
  })

  async function send(
    endpoint: WebhookEndpoint,
    operation: ClaimedOperation,
    signal: AbortSignal,
  ): Promise<DeliveryResult> {
    const url = URL.parse(endpoint.url)
    if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
      return { status: 'failed', failureCode: 'webhook_address_invalid' }
    }
    const header = idempotencyHeaderOf(operation.target.targetId)
    const { contentType, bytes, pieces, release } = await bodyOf(operation)
    let sent = false
    async function* body(): AsyncGenerator<Uint8Array> {
      yield* pieces
      sent = true
    }
    try {
      const answer = await agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers: {
          'content-type': contentType,
          'content-length': String(bytes),
          'user-agent': 'Wheelhouse',
          ...(endpoint.secret === null ? {} : { authorization: `Bearer ${endpoint.secret.reveal('upstream_header')}` }),
          ...(header === null ? {} : { [header]: operation.idempotencyKey }),
        },
        body: Readable.from(body(), { objectMode: false }),
        signal,
      })
      // The status alone counts; an answer that breaks off afterwards changes nothing.
      await answer.body.dump({ limit: 65_536 }).catch(() => undefined)
      return judge(answer.statusCode, answer.headers['retry-after'])
    } catch {
      signal.throwIfAborted()
      // Before all of it was sent the receiver cannot have taken it.
      return sent
        ? { status: 'uncertain', failureCode: 'webhook_cut' }
        : { status: 'sending', failureCode: 'webhook_unreachable' }
    } finally {
      release()
    }
  }

  function judge(status: number, retryAfter: string | string[] | undefined): DeliveryResult {
    if (status >= 200 && status < 300) return { status: 'delivered' }
    const failureCode = `webhook_http_${status}`
    if (status < 500 && !RETRIED_4XX.has(status)) return { status: 'failed', failureCode }
    const nextAttemptAt = readRetryAfter(retryAfter)
    return { status: 'sending', failureCode, ...(nextAttemptAt === null ? {} : { nextAttemptAt }) }
  }

  /** Seconds, or a date of HTTP. */
  function readRetryAfter(value: string | string[] | undefined): number | null {
    if (typeof value !== 'string') return null
    if (/^\s*\d{1,9}\s*$/.test(value)) return clock.nowMs() + Number(value) * 1_000
    const at = Date.parse(value)
    return Number.isNaN(at) ? null : at
  }

  return {
    id: 'webhook',
    capability: { text: true, image: true, file: true, video: true },
    isIdempotent: ({ targetId }) => idempotencyHeaderOf(targetId) !== null,
    async execute(operation, signal) {
      // A file travels with the message that names it.
      if (operation.kind === 'upload_artifact') return { status: 'uploaded' }
      let endpoint: WebhookEndpoint | null
      try {
        endpoint = await endpointOf(operation.target.targetId)
      } catch (error) {
        // A keychain that is locked may be open at the next attempt.
        if (error instanceof AppError) return { status: 'sending', failureCode: error.code }
        throw error
      }
      if (endpoint === null) return { status: 'failed', failureCode: 'webhook_unknown' }
      return send(endpoint, operation, signal)
    },
    close: () => agent.destroy(),
  }
}
