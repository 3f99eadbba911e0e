import { ATTACHMENT_PAGE_BYTES, UPLOAD_CHUNK_BYTES } from '../../../shared/bridge/inputs.ts'
import type { AttachmentView, inputProcedures, InputView } from '../../../shared/bridge/inputs.ts'
import type { Clock, Ids } from '../../platform/index.ts'
import type { ArtifactRow, InputRow, Runtime } from '../../runtime/index.ts'
import { compact } from '../compact.ts'
import type { HandlersOf } from '../types.ts'
import { createUploads } from '../uploads.ts'

export function inputHandlers(deps: {
  runtime: Runtime
  platform: { clock: Clock; ids: Ids }
}): HandlersOf<typeof inputProcedures> {
  const { runtime, platform } = deps
  const uploads = createUploads({ ...platform, inputs: runtime.inputs })
  return {
    'inputs.limits': () => runtime.inputs.limits(),
    'inputs.begin': ({ sessionId, kind, filename, mediaType, size }, { connection }) => ({
      uploadId: uploads.begin(connection.generation, { sessionId, kind, filename, size, ...compact({ mediaType }) }),
      chunkBytes: UPLOAD_CHUNK_BYTES,
    }),
    'inputs.chunk': async ({ uploadId, index, base64 }, { connection }) => ({
      received: await uploads.chunk(connection.generation, uploadId, index, base64),
    }),
    'inputs.finish': async ({ uploadId }, { connection }) =>
      inputView((await uploads.finish(connection.generation, uploadId)).input),
    'inputs.abort': ({ uploadId }, { connection }) => ({ aborted: uploads.abort(connection.generation, uploadId) }),
    'inputs.get': (input) => inputView(runtime.inputs.get(input)),
    'inputs.discard': async (input) => inputView(await runtime.inputs.discard(input)),
    'inputs.delete': async (input) => inputView(await runtime.inputs.delete(input)),
    'attachments.list': ({ runId }) => ({ attachments: runtime.artifacts.ofRun(runId).map(attachmentView) }),
    'attachments.read': async ({ sessionId, artifactId, offset }) => {
      const { artifact, stream } = await runtime.artifacts.open({ sessionId, artifactId })
      const page = await pageOf(stream, offset)
      const end = offset + page.length
      const next = end < artifact.bytes && page.length > 0 ? end : null
      return { attachment: attachmentView(artifact), base64: page.toString('base64'), next }
    },
  }
}

async function pageOf(stream: AsyncIterable<Uint8Array>, offset: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let at = 0
  for await (const piece of stream) {
    const part = piece.subarray(Math.max(0, offset - at), Math.max(0, offset + ATTACHMENT_PAGE_BYTES - at))
    if (part.length > 0) parts.push(part)
    at += piece.length
    if (at >= offset + ATTACHMENT_PAGE_BYTES) break
  }
  return Buffer.concat(parts)
}

function inputView({ id, kind, filename, mediaType, bytes, status, createdAt }: InputRow): InputView {
  return { inputId: id, kind, filename, mediaType, bytes, status, createdAt }
}

function attachmentView({ id, runId, kind, filename, mediaType, bytes, expiresAt }: ArtifactRow): AttachmentView {
  return { artifactId: id, runId, kind, filename, mediaType, bytes, expiresAt }
}
