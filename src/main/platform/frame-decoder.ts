import { AppError } from '../../shared/errors.ts'

const NEWLINE = 0x0a

export type DecodedFrame = { kind: 'frame'; frame: unknown } | { kind: 'bad'; error: AppError }

/**
 * Newline-delimited JSON. A line that is no JSON, or longer than `maxBytes`, is answered as bad, once, and the next line is
 * read as if nothing had been; no more than `maxBytes` are ever held.
 */
export function createFrameDecoder(maxBytes: number): { push(chunk: Uint8Array): readonly DecodedFrame[] } {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let parts: Uint8Array[] = []
  let length = 0
  let skipping = false

  function keep(part: Uint8Array): readonly DecodedFrame[] {
    if (skipping || part.length === 0) return []
    length += part.length
    if (length <= maxBytes) {
      parts.push(part)
      return []
    }
    skipping = true
    parts = []
    const message = 'A message was too long and was not read.'
    return [{ kind: 'bad', error: new AppError('frame_too_large', message, { detail: `over ${maxBytes} bytes` }) }]
  }

  function endLine(): readonly DecodedFrame[] {
    const line = Buffer.concat(parts)
    const skipped = skipping
    parts = []
    length = 0
    skipping = false
    if (skipped) return []
    try {
      return [{ kind: 'frame', frame: JSON.parse(utf8.decode(line)) }]
    } catch (error) {
      return [{ kind: 'bad', error: new AppError('frame_malformed', 'A message could not be read.', { cause: error }) }]
    }
  }

  return {
    push(chunk) {
      const decoded: DecodedFrame[] = []
      let from = 0
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        decoded.push(...keep(chunk.subarray(from, at)), ...endLine())
        from = at + 1
      }
      decoded.push(...keep(chunk.subarray(from)))
      return decoded
    },
  }
}
