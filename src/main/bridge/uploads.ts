import { AppError } from '../../shared/errors.ts'
import type { Clock, Ids } from '../platform/index.ts'
import type { MaterialKind, PreparedInput, Runtime } from '../runtime/index.ts'
import { compact } from './compact.ts'

const MAX_PER_CONNECTION = 8
const MAX_AT_ONCE = 32
/** How long an upload that failed can still say why. */
const FAILED_KEPT_MS = 60_000

export interface UploadBegin {
  sessionId: string
  kind: MaterialKind
  filename: string
  mediaType?: string
  size: number
}

export interface Uploads {
  /** @throws AppError `too_many_calls`; what is wrong with the item is told by the next call. */
  begin(owner: string, item: UploadBegin): string
  /** Answers how many bytes have come. Resolves when there is room for the next. @throws AppError `input_invalid` and what the input throws. */
  chunk(owner: string, uploadId: string, index: number, base64: string): Promise<number>
  finish(owner: string, uploadId: string): Promise<PreparedInput>
  /** False: there is no such upload. */
  abort(owner: string, uploadId: string): boolean
}

interface Upload {
  owner: string
  size: number
  received: number
  nextIndex: number
  writer: WritableStreamDefaultWriter<Uint8Array>
  stop: AbortController
  prepared: Promise<PreparedInput>
}

/** Items that come in pieces over the bridge. One piece waits in memory, the rest is on disk or still with the sender. */
export function createUploads(deps: { clock: Clock; ids: Ids; inputs: Pick<Runtime['inputs'], 'prepare'> }): Uploads {
  const { clock, ids, inputs } = deps
  const uploads = new Map<string, Upload>()

  function find(owner: string, uploadId: string): Upload {
    const upload = uploads.get(uploadId)
    if (upload?.owner === owner) return upload
    throw new AppError('input_unavailable', 'This upload is over. Begin it anew.', { detail: uploadId })
  }

  /** What went wrong with the item is worth more than that its stream broke. */
  async function fail(uploadId: string, upload: Upload, error: unknown): Promise<never> {
    upload.stop.abort(error)
    uploads.delete(uploadId)
    await upload.prepared
    throw error
  }

  return {
    begin(owner, { sessionId, kind, filename, mediaType, size }) {
      const own = [...uploads.values()].filter((upload) => upload.owner === owner)
      if (own.length >= MAX_PER_CONNECTION || uploads.size >= MAX_AT_ONCE) {
        throw new AppError('too_many_calls', 'Too many files at once. Wait for some of them.')
      }
      const uploadId = ids.next()
      const pipe = new TransformStream<Uint8Array, Uint8Array>()
      const stop = new AbortController()
      const hints = { filename, size, ...compact({ mediaType }) }
      const request = { sessionId, origin: 'window', itemIndex: 0, kind, hints }
      const open = async () => ({ stream: pipe.readable })
      const prepared = inputs.prepare({ ...request, open }, stop.signal)
      const writer = pipe.writable.getWriter()
      prepared.catch((error: unknown) => {
        writer.abort(error).catch(() => undefined)
        clock.after(FAILED_KEPT_MS, () => void uploads.delete(uploadId))
      })
      writer.closed.catch(() => undefined)
      uploads.set(uploadId, { owner, size, received: 0, nextIndex: 0, writer, stop, prepared })
      return uploadId
    },
    async chunk(owner, uploadId, index, base64) {
      const upload = find(owner, uploadId)
      const bytes = Buffer.from(base64, 'base64')
      if (bytes.toString('base64') !== base64 || index !== upload.nextIndex) {
        return fail(uploadId, upload, new AppError('input_invalid', 'The pieces of this file do not fit together.'))
      }
      upload.nextIndex++
      upload.received += bytes.length
      if (upload.received > upload.size) {
        return fail(uploadId, upload, new AppError('input_invalid', 'This file is larger than was said.'))
      }
      try {
        // An empty piece says nothing, and a reader takes it for the end.
        if (bytes.length > 0) await upload.writer.write(bytes)
      } catch (error) {
        return fail(uploadId, upload, error)
      }
      return upload.received
    },
    async finish(owner, uploadId) {
      const upload = find(owner, uploadId)
      if (upload.received !== upload.size) {
        return fail(uploadId, upload, new AppError('input_invalid', 'This file is smaller than was said.'))
      }
      upload.writer.close().catch(() => undefined)
      try {
        return await upload.prepared
      } finally {
        uploads.delete(uploadId)
      }
    },
    abort(owner, uploadId) {
      const upload = uploads.get(uploadId)
      if (upload?.owner !== owner) return false
      upload.stop.abort(new AppError('aborted', 'The upload was given up.'))
      uploads.delete(uploadId)
      return true
    },
  }
}
