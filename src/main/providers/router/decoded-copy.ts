/** Decodes a copy of an encoded answer beside its stream, which it neither delays nor changes. */
import { createDecoder } from './encodings.ts'

/** What may wait to be decoded, and what may come of it. Beyond, nothing more is read. */
const AHEAD_BYTES = 1_048_576
const MOST_BYTES = 67_108_864

export interface DecodedCopy {
  push(chunk: Uint8Array): void
  /** No more comes. Resolves when all was taken; false: it was given up. */
  over(): Promise<boolean>
}

/** Null: an encoding that is not read. */
export function decodeCopy(
  encoding: string | undefined,
  take: (chunk: Uint8Array) => void,
  mostBytes = MOST_BYTES,
): DecodedCopy | null {
  const decoder = createDecoder(encoding)
  if (decoder === null) return null
  let bytes = 0
  let givenUp = false
  const giveUp = (): void => {
    givenUp = true
    decoder.destroy()
  }
  const closed = new Promise<void>((resolve) => decoder.once('close', resolve))
  // What was decoded before still counts.
  decoder.on('error', () => undefined)
  decoder.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > mostBytes) giveUp()
    else take(chunk)
  })
  return {
    push(chunk) {
      if (decoder.destroyed) return
      if (decoder.writableLength > AHEAD_BYTES) giveUp()
      else decoder.write(chunk)
    },
    async over() {
      if (!decoder.destroyed) decoder.end()
      await closed
      return !givenUp
    },
  }
}
