import { Readable } from 'node:stream'
import type { ClaimedOperation } from '../runtime/index.ts'

export interface WebhookBody {
  contentType: string
  /** Of all pieces. */
  bytes: number
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  /** Lets go of what was not read. */
  release(): void
}

/**
 * What is posted for an operation: the same bytes in every attempt, so that nothing of an attempt stands in it.
 * @throws AppError as `DeliveredArtifact.open`.
 */
export async function bodyOf(operation: ClaimedOperation): Promise<WebhookBody> {
  const { id, deliveryId, kind, sequence, payload, target, artifact } = operation
  const facts = { deliveryId, operationId: id, sequence, kind, context: target.context }
  if (artifact === null) {
    const json = Buffer.from(JSON.stringify({ ...facts, text: payload }))
    return { contentType: 'application/json', bytes: json.length, pieces: [json], release: () => undefined }
  }
  const { filename, mediaType, bytes, sha256 } = artifact
  const json = JSON.stringify({ ...facts, file: { filename, mediaType, bytes, sha256 } })
  const boundary = `wheelhouse-${id}`
  const head = Buffer.from(
    [
      `--${boundary}`,
      'Content-Disposition: form-data; name="message"',
      'Content-Type: application/json',
      '',
      json,
      `--${boundary}`,
      `Content-Disposition: form-data; name="file"; filename="${escaped(filename)}"`,
      `Content-Type: ${mediaType}`,
      '',
      '',
    ].join('\r\n'),
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const stream = await artifact.open()
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: head.length + bytes + tail.length,
    pieces: joined(head, stream, tail),
    release: () => void (stream instanceof Readable && stream.destroy()),
  }
}

async function* joined(
  head: Uint8Array,
  stream: AsyncIterable<Uint8Array>,
  tail: Uint8Array,
): AsyncGenerator<Uint8Array> {
  yield head
  yield* stream
  yield tail
}

/** As browsers write a name: what would end the quotes or the line is percent-encoded. */
function escaped(filename: string): string {
  return filename.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
