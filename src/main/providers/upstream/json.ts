/** One bounded GET of a JSON document: model lists and connection tests. */
import { AppError } from '../../../shared/errors.ts'
import { streamOf } from './answer-body.ts'
import { blankBytes } from './echoes.ts'
import type { JsonAnswer, JsonRequest, UpstreamAnswer, UpstreamRequest } from './types.ts'

type Send = (request: UpstreamRequest, signal: AbortSignal) => Promise<UpstreamAnswer>

/** @throws AppError as `Upstream.getJson`. */
export async function readJson(send: Send, request: JsonRequest, signal: AbortSignal): Promise<JsonAnswer> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(request.timeoutMs)])
  try {
    const answer = await send(
      {
        url: request.url,
        method: 'GET',
        headers: { accept: 'application/json', 'accept-encoding': 'identity', ...request.headers },
        body: null,
        auth: request.auth,
      },
      deadline,
    )
    const body = await readBounded(answer, request.maxBytes)
    return { status: answer.status, value: parse(blankBytes(body, request.auth.key)) }
  } catch (error) {
    if (error instanceof AppError) throw error
    signal.throwIfAborted()
    if (deadline.aborted) {
      throw new AppError('upstream_timeout', 'The Provider did not answer in time.', { cause: error })
    }
    throw new AppError('upstream_unreachable', 'The Provider broke off its answer.', { cause: error })
  }
}

async function readBounded(answer: UpstreamAnswer, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of streamOf(answer.body) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) {
      throw new AppError('upstream_invalid', 'The Provider answered with more than Wheelhouse reads.', {
        detail: `over ${maxBytes} bytes`,
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
