/** Answers one HTTP request: which API, which conversation, which move, in one piece or as a stream. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { messages } from './messages.ts'
import { modelList } from './models.ts'
import type { Answer, Dialect, ParsedRequest } from './protocol.ts'
import { responses } from './responses.ts'
import { nextMove } from './script.ts'
import type { Move, RehearsalDeps } from './types.ts'
import { countTokens } from './usage.ts'

const MAX_BODY_BYTES = 32 * 1024 * 1024
/** A client that takes nothing for so long is given up. */
const DRAIN_TIMEOUT_MS = 30_000

export function createAnswering(deps: RehearsalDeps) {
  const { clock, ids, log } = deps

  return async function answer(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    // As text: what is no address at all (`//[`) is one more path that the rehearsal does not have.
    const [pathname = '/'] = (request.url ?? '/').split('?', 1)
    const route = `${request.method ?? ''} ${pathname}`
    // No page in a browser has business here, whatever name it resolved to this address.
    if (request.headers.origin !== undefined) return refuse(response, responses, 403, 'Browsers are not answered.')
    // Codex tries a WebSocket first; this answer, unlike any other, makes it fall back to HTTP at once.
    if (request.headers.upgrade !== undefined)
      return refuse(response, responses, 426, 'The rehearsal speaks HTTP alone.')
    switch (route) {
      case 'HEAD /':
      case 'GET /':
        return send(response, 200, { service: 'rehearsal' })
      case 'GET /v1/models':
        return send(response, 200, modelList())
      case 'POST /v1/responses':
        return converse(responses, request, response, signal)
      case 'POST /v1/messages':
        return converse(messages, request, response, signal)
      case 'POST /v1/messages/count_tokens': {
        const body = await readBody(request, response, messages)
        if (body === null) return
        return send(response, 200, { input_tokens: countTokens(body.text) })
      }
      default: {
        const dialect = pathname.startsWith('/v1/messages') ? messages : responses
        return refuse(response, dialect, 404, `The rehearsal has no ${route}.`)
      }
    }
  }

  async function converse(
    dialect: Dialect,
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const body = await readBody(request, response, dialect)
    if (body === null) return
    const parsed = dialect.parse(body.json)
    if (parsed === null) return refuse(response, dialect, 400, 'The request does not fit this API.')
    const answer = answerTo(parsed, body.text)
    log.debug('the rehearsal answers', { step: parsed.conversation.steps.length, tool: answer.move.call?.tool ?? null })
    if (parsed.stream) await stream(dialect, answer, response, signal)
    else send(response, 200, dialect.whole(answer))
  }

  function answerTo({ model, conversation }: ParsedRequest, body: string): Answer {
    const move = nextMove(conversation)
    return {
      model,
      move,
      tokens: { input: countTokens(body), output: countTokens(wordsOf(move)) },
      newId: (prefix) => `${prefix}_${ids.next().replaceAll('-', '')}`,
      createdAtS: Math.floor(clock.nowMs() / 1_000),
    }
  }

  async function stream(
    dialect: Dialect,
    answer: Answer,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' })
    for (const { text, pauseMs } of dialect.stream(answer)) {
      if (pauseMs > 0) await clock.sleep(pauseMs, signal)
      signal.throwIfAborted()
      if (!response.write(text)) await drained(response, signal)
    }
    response.end()
  }

  async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
    const drain = Promise.withResolvers<void>()
    const waiting = new AbortController()
    response.once('drain', drain.resolve)
    const gaveUp = clock.sleep(DRAIN_TIMEOUT_MS, AbortSignal.any([signal, waiting.signal])).then(() => {
      response.destroy()
    })
    try {
      await Promise.race([drain.promise, gaveUp])
    } finally {
      response.off('drain', drain.resolve)
      waiting.abort()
      await gaveUp.catch(() => {
        // The wait was called off, here or by the request's end.
      })
    }
  }
}

function wordsOf(move: Move): string {
  return move.text.join('') + (move.call === null ? '' : JSON.stringify(move.call.input))
}

interface Body {
  text: string
  json: unknown
}

/** Null: refused and answered. */
async function readBody(request: IncomingMessage, response: ServerResponse, dialect: Dialect): Promise<Body | null> {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    refuse(response, dialect, 415, `The rehearsal does not read ${encoding}.`)
    return null
  }
  const chunks: Buffer[] = []
  let bytes = 0
  // Kept open on the way out, so that a refusal still reaches the client.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) {
      refuse(response, dialect, 413, 'The request is longer than 32 MiB.')
      return null
    }
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  try {
    return { text, json: JSON.parse(text) }
  } catch {
    refuse(response, dialect, 400, 'The request is no JSON.')
    return null
  }
}

function refuse(response: ServerResponse, dialect: Dialect, status: number, message: string): void {
  response.setHeader('connection', 'close')
  send(response, status, dialect.error(status, message))
}

function send(response: ServerResponse, status: number, payload: object): void {
  const body = JSON.stringify(payload)
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body)
}
