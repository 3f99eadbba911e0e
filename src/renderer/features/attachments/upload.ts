import type { Bridge } from '../../../shared/bridge/client.ts'
import type { InputView } from '../../../shared/bridge/index.ts'
import { AppError } from '../../../shared/errors.ts'
import { strings } from '../../strings/index.ts'
import { byteSize } from '../../text/index.ts'

/** What `String.fromCharCode` takes at once. */
const PIECE_BYTES = 32_768
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

export interface UploadOptions {
  sessionId: string
  /** Bytes that the host has. */
  onSent: (bytes: number) => void
  signal: AbortSignal
}

/**
 * Hands a file over in chunks; resolves once the host keeps it for the session.
 * @throws AppError `input_too_large` before anything was sent, and what the host says of the file.
 */
export async function uploadFile(bridge: Bridge, file: File, options: UploadOptions): Promise<InputView> {
  const { sessionId, onSent, signal } = options
  const kind = kindOf(file.type)
  const { maxBytes } = (await bridge.call('inputs.limits', {}, signal))[kind]
  if (file.size > maxBytes) {
    throw new AppError('input_too_large', strings.attachments.tooLarge(byteSize(maxBytes)), { detail: file.name })
  }
  const hints = file.type === '' ? {} : { mediaType: file.type.slice(0, 160) }
  const { uploadId, chunkBytes } = await bridge.call(
    'inputs.begin',
    { sessionId, kind, filename: file.name.slice(0, 1_024), size: file.size, ...hints },
    signal,
  )
  try {
    for (let index = 0; index * chunkBytes < file.size; index++) {
      const piece = await file.slice(index * chunkBytes, (index + 1) * chunkBytes).arrayBuffer()
      const base64 = toBase64(new Uint8Array(piece))
      onSent((await bridge.call('inputs.chunk', { uploadId, index, base64 }, signal)).received)
    }
    return await bridge.call('inputs.finish', { uploadId }, signal)
  } catch (thrown) {
    // A host that is away forgets it by itself.
    bridge.call('inputs.abort', { uploadId }).catch(() => {})
    throw thrown
  }
}

/** An image of a kind that no model takes goes along as a file. */
export function kindOf(mediaType: string): InputView['kind'] {
  if (IMAGES.has(mediaType)) return 'image'
  if (mediaType.startsWith('audio/')) return 'audio'
  return mediaType.startsWith('video/') ? 'video' : 'file'
}

export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES))
  }
  return btoa(binary)
}
