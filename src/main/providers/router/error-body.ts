/** An upstream's error answer: some Providers echo the key in it, so its bytes are blanked before they leave. */
import type { Readable, Transform } from 'node:stream'
import type { Secret } from '../../platform/types.ts'
import { bodyOf, createBlanker, streamOf } from '../upstream/index.ts'
import type { AnswerBody } from '../upstream/index.ts'
import { createDecoder, isIdentity } from './encodings.ts'

const HELD_BYTES = 65_536

export interface HeldBody {
  readonly head: Buffer
  /** What follows; null: `head` is the whole body. */
  readonly rest: AnswerBody | null
  /** The upstream went away inside it. */
  readonly cut: boolean
  /** It came encoded and no longer is. */
  readonly decoded: boolean
}

/**
 * Waits for the body's end or its first 64 KiB, whichever comes first. The key appears in neither part, even where the
 * upstream encoded its answer unasked.
 */
export async function holdErrorBody(
  body: AnswerBody,
  encoding: string | undefined,
  key: Secret | null,
): Promise<HeldBody> {
  const decoder = isIdentity(encoding) ? null : createDecoder(encoding)
  const decoded = decoder !== null
  if (!decoded && !isIdentity(encoding)) {
    // Nobody asked for an encoding, and what cannot be read cannot be looked through.
    body.destroy()
    return { head: Buffer.alloc(0), rest: null, cut: false, decoded: true }
  }
  const stream = streamOf(body)
  const plain = decoder === null ? stream : pipeThrough(stream, decoder)
  const blanked: Readable = key === null ? plain : pipeThrough(plain, createBlanker(key))
  const held: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of blanked.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      held.push(chunk)
      bytes += chunk.length
      if (bytes >= HELD_BYTES) return { head: Buffer.concat(held), rest: bodyOf(blanked), cut: false, decoded }
    }
    return { head: Buffer.concat(held), rest: null, cut: false, decoded }
  } catch {
    return { head: Buffer.concat(held), rest: null, cut: true, decoded }
  }
}

function pipeThrough(source: Readable, through: Transform): Transform {
  source.once('error', (error) => through.destroy(error))
  through.once('close', () => source.destroy())
  return source.pipe(through)
}
