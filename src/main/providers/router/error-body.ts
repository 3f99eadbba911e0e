/** An upstream's error answer: some Providers echo the key in it, so its bytes are blanked before they leave. */
import { Transform } from 'node:stream'
import type { Readable } from 'node:stream'
import type { Secret } from '../../platform/types.ts'
import { bodyOf, streamOf } from '../upstream/index.ts'
import type { AnswerBody } from '../upstream/index.ts'
import { createDecoder, isIdentity } from './encodings.ts'

const HELD_BYTES = 65_536
const BLANK = Buffer.from('[secret]')

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
  const stream = streamOf(body)
  const plain = decoder === null ? stream : pipeThrough(stream, decoder)
  const blanked = echoesOf(key).reduce<Readable>((source, echo) => pipeThrough(source, createBlanker(echo)), plain)
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

/** The forms in which an error may echo the key: as it is, and as JSON writes it, with and without escaped slashes. */
export function echoesOf(key: Secret | null): readonly Buffer[] {
  if (key === null) return []
  const raw = key.reveal('redactor')
  const json = JSON.stringify(raw).slice(1, -1)
  return [...new Set([raw, json, json.replaceAll('/', '\\/')])].map((form) => Buffer.from(form))
}

function pipeThrough(source: Readable, through: Transform): Transform {
  source.once('error', (error) => through.destroy(error))
  through.once('close', () => source.destroy())
  return source.pipe(through)
}

/** Holds back as many bytes as a key's beginning may take. */
function createBlanker(key: Buffer): Transform {
  let carry: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const [clean, rest] = blank(Buffer.concat([carry, chunk]), key)
      const keep = Math.min(key.length - 1, rest.length)
      carry = rest.subarray(rest.length - keep)
      done(null, Buffer.concat([clean, rest.subarray(0, rest.length - keep)]))
    },
    flush(done) {
      done(null, carry)
    },
  })
}

/** The text up to and with the last key, blanked, and what follows it. */
function blank(text: Buffer, key: Buffer): [clean: Buffer, rest: Buffer] {
  const parts: Buffer[] = []
  let from = 0
  for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, from)) {
    parts.push(text.subarray(from, at), BLANK)
    from = at + key.length
  }
  return [Buffer.concat(parts), text.subarray(from)]
}
