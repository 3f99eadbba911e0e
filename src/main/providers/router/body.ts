/** Takes a request's body in: bounded, decoded off the main thread, and read by the scanner as its chunks arrive. */
import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import { AppError } from '../../../shared/errors.ts'
import type { BufferBudget } from './budget.ts'
import { createDecoder, isIdentity } from './encodings.ts'

export interface TakenBody {
  /** As it arrived, still encoded. */
  readonly wire: readonly Uint8Array[]
  /** The decoded bytes; the same array as `wire` where nothing was encoded. */
  readonly decoded: readonly Uint8Array[]
  readonly wireBytes: number
}

export interface BodyLimits {
  /** Of the wire form and of the decoded form alike. */
  readonly capBytes: number
  readonly budget: BufferBudget
}

/**
 * `scan` is handed each decoded chunk as it arrives; what it throws ends the intake.
 * @throws AppError `request_body_too_large`, `request_encoding_unsupported`, `request_body_malformed`, `route_overloaded`;
 * the signal's reason.
 */
export async function takeBody(
  request: IncomingMessage,
  limits: BodyLimits,
  scan: (chunk: Uint8Array) => void,
  signal: AbortSignal,
): Promise<TakenBody> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limits.capBytes) throw tooLarge(limits.capBytes)
  const decoder = decoderFor(request.headers['content-encoding'])
  const wire = createGatherer(limits)
  if (decoder === null) {
    await eachChunk(request, signal, (chunk) => {
      wire.take(chunk)
      scan(chunk)
    })
    return { wire: wire.chunks, decoded: wire.chunks, wireBytes: wire.bytes() }
  }
  const decoded = createGatherer(limits)
  await decode(
    chunksOf(request, signal),
    decoder,
    (chunk) => wire.take(chunk),
    (chunk) => {
      decoded.take(chunk)
      scan(chunk)
    },
  )
  return { wire: wire.chunks, decoded: decoded.chunks, wireBytes: wire.bytes() }
}

/** Hands on each chunk of the request in the turn it arrives in; a throw or the signal stops it and keeps the connection. */
function eachChunk(request: IncomingMessage, signal: AbortSignal, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      try {
        take(chunk)
      } catch (error) {
        request.pause()
        settle(() => reject(error))
      }
    }
    const onEnd = (): void => settle(resolve)
    const onGone = (cause?: Error): void => settle(() => reject(brokenOff(cause)))
    const onAbort = (): void => {
      request.destroy()
      settle(() => reject(signal.reason))
    }
    function settle(settled: () => void): void {
      request.off('data', onData).off('end', onEnd).off('close', onGone)
      signal.removeEventListener('abort', onAbort)
      settled()
    }
    // An error closes the request; this listener stays, since one may come after all is settled.
    request.on('error', onGone)
    request.on('data', onData).on('end', onEnd).on('close', onGone)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    else if (request.destroyed) onGone()
  })
}

/** For a decoder, which may not keep up. Leaving early keeps the connection, so that a refusal can still be read. */
async function* chunksOf(request: IncomingMessage, signal: AbortSignal): AsyncGenerator<Buffer> {
  const abort = (): void => void request.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    signal.throwIfAborted()
    for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Buffer
  } catch (error) {
    signal.throwIfAborted()
    throw brokenOff(error)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function brokenOff(cause: unknown): AppError {
  return new AppError('request_body_malformed', 'The request broke off before its body had arrived.', { cause })
}

async function decode(
  source: AsyncIterable<Buffer>,
  decoder: Transform,
  onWire: (chunk: Buffer) => void,
  onDecoded: (chunk: Buffer) => void,
): Promise<void> {
  let failure: unknown = null
  decoder.on('data', (chunk: Buffer) => {
    try {
      onDecoded(chunk)
    } catch (error) {
      failure ??= error
      decoder.destroy()
    }
  })
  decoder.on('error', (error) => {
    failure ??= new AppError('request_body_malformed', 'The request body cannot be decoded.', { cause: error })
  })
  const closed = new Promise<void>((resolve) => decoder.once('close', resolve))
  try {
    for await (const chunk of source) {
      onWire(chunk)
      if (!decoder.destroyed && !decoder.write(chunk)) await Promise.race([drained(decoder), closed])
      if (decoder.destroyed) break
    }
    if (!decoder.destroyed) decoder.end()
    await closed
  } finally {
    decoder.destroy()
  }
  if (failure !== null) throw failure
}

function drained(decoder: Transform): Promise<void> {
  return new Promise((resolve) => decoder.once('drain', resolve))
}

function decoderFor(encoding: string | undefined): Transform | null {
  if (isIdentity(encoding)) return null
  const decoder = createDecoder(encoding)
  if (decoder !== null) return decoder
  throw new AppError('request_encoding_unsupported', 'This body encoding is not supported. Send it as it is, or gzip.')
}

function createGatherer(limits: BodyLimits): {
  chunks: Uint8Array[]
  take(chunk: Uint8Array): void
  bytes(): number
} {
  const chunks: Uint8Array[] = []
  let bytes = 0
  return {
    chunks,
    take(chunk) {
      bytes += chunk.length
      if (bytes > limits.capBytes) throw tooLarge(limits.capBytes)
      limits.budget.take(chunk.length)
      chunks.push(chunk)
    },
    bytes: () => bytes,
  }
}

function tooLarge(capBytes: number): AppError {
  return new AppError(
    'request_body_too_large',
    `The request is larger than ${Math.floor(capBytes / 1_048_576)} MiB. Compact or shorten the conversation.`,
  )
}
