import { z } from 'zod'
import { ArtifactFacts, InputFacts } from '../events.ts'
import { mutation, query } from './define.ts'
import type { ProcedureMap } from './define.ts'

const sessionId = z.uuid()
const inputId = z.uuid()
const uploadId = z.uuid()
const kind = z.enum(['image', 'file', 'audio', 'video'])

/** What one chunk of an upload holds at most, before base64: with its envelope it fits into a frame. */
export const UPLOAD_CHUNK_BYTES = 524_288
/** What one page of a published file holds, before base64. */
export const ATTACHMENT_PAGE_BYTES = 2_097_152

const base64 = (bytes: number) => z.string().max(Math.ceil(bytes / 3) * 4)

export const InputView = InputFacts.extend({
  status: z.enum(['prepared', 'attached', 'deleted', 'missing']),
  createdAt: z.number(),
})
export type InputView = z.infer<typeof InputView>

export const AttachmentView = ArtifactFacts.extend({
  runId: z.string().nullable(),
  /** After this it is gone (wall clock, Unix ms). */
  expiresAt: z.number(),
})
export type AttachmentView = z.infer<typeof AttachmentView>

/** An upload is begun, filled chunk by chunk in order, and finished; 60 s without a chunk end it. */
export const inputProcedures = {
  'inputs.limits': query({
    input: z.strictObject({}),
    output: z.record(kind, z.object({ maxBytes: z.number(), maxPixels: z.number().nullable() })),
  }),
  'inputs.begin': mutation({
    input: z.strictObject({
      sessionId,
      kind,
      filename: z.string().max(1_024),
      mediaType: z.string().max(160).optional(),
      size: z.int().min(0),
    }),
    output: z.object({ uploadId: z.string(), chunkBytes: z.int() }),
  }),
  'inputs.chunk': mutation({
    /** `index` counts from 0. */
    input: z.strictObject({ uploadId, index: z.int().min(0), base64: base64(UPLOAD_CHUNK_BYTES) }),
    output: z.object({ received: z.int() }),
  }),
  'inputs.finish': mutation({ input: z.strictObject({ uploadId }), output: InputView }),
  'inputs.abort': mutation({ input: z.strictObject({ uploadId }), output: z.object({ aborted: z.boolean() }) }),
  'inputs.get': query({ input: z.strictObject({ sessionId, inputId }), output: InputView }),
  'inputs.discard': mutation({ input: z.strictObject({ sessionId, inputId }), output: InputView }),
  'inputs.delete': mutation({ input: z.strictObject({ sessionId, inputId }), output: InputView }),
  'attachments.list': query({
    input: z.strictObject({ runId: z.uuid() }),
    output: z.object({ attachments: z.array(AttachmentView) }),
  }),
  'attachments.read': query({
    input: z.strictObject({ sessionId, artifactId: z.uuid(), offset: z.int().min(0).default(0) }),
    output: z.object({
      attachment: AttachmentView,
      base64: base64(ATTACHMENT_PAGE_BYTES),
      next: z.int().nullable(),
    }),
  }),
} satisfies ProcedureMap
