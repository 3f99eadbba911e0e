/** Where a run's answer goes beside the window. A transport carries it; the outbox decides when, and how often. */
import { z } from 'zod'
import type { Source } from '../../../shared/vocabulary.ts'
import type { ArtifactRow } from '../store/artifacts.ts'

export const MAX_TARGETS = 8
const MAX_CONTEXT_BYTES = 4_096

/** Frozen with the run's policy. `targetId` is the transport's own name of the place; no address and no credential. */
export const DeliveryTarget = z.object({
  transport: z.string().min(1).max(64),
  targetId: z.string().max(256),
  /** Opaque: where and what is answered. */
  context: z
    .record(z.string(), z.json())
    .refine((context) => Buffer.byteLength(JSON.stringify(context)) <= MAX_CONTEXT_BYTES, 'over 4 KiB'),
})
export type DeliveryTarget = z.infer<typeof DeliveryTarget>

/** What a transport really carries, not what its format could. Audio goes as `file`. */
export interface DeliveryCapability {
  text: boolean
  image: boolean
  file: boolean
  video: boolean
}

export const OperationKind = z.enum(['send_text', 'upload_artifact', 'send_artifact', 'send_fallback_text'])
export type OperationKind = z.infer<typeof OperationKind>

export const OperationStatus = z.enum([
  'pending',
  'uploading',
  'uploaded',
  'sending',
  'retry_wait',
  'delivered',
  'unsupported',
  'failed',
  'uncertain',
])
export type OperationStatus = z.infer<typeof OperationStatus>

export const DeliveryStatus = z.enum(['pending', 'delivered', 'failed', 'uncertain', 'cancelled'])
export type DeliveryStatus = z.infer<typeof DeliveryStatus>

/** What the transport wants to be handed again with the next attempt. */
export type RemoteState = Record<string, z.core.util.JSONType>

export interface ClaimedOperation {
  id: string
  /** Of the delivery it belongs to. */
  deliveryId: string
  kind: OperationKind
  /** From 1, within its delivery. */
  sequence: number
  /** From 1, within its window. */
  attempt: number
  leaseEpoch: number
  target: DeliveryTarget
  /** The same in every attempt, in whatever process. */
  idempotencyKey: string
  /** The text to send, the same in every attempt. */
  payload: string
  artifact: DeliveredArtifact | null
  remoteAssetId: string
  remoteState: RemoteState
}

export interface DeliveredArtifact extends Pick<
  ArtifactRow,
  'id' | 'kind' | 'filename' | 'mediaType' | 'bytes' | 'sha256'
> {
  /** The bytes as they were published. @throws AppError `artifact_not_found`, `artifact_expired`, `artifact_corrupt`. */
  open(): Promise<AsyncIterable<Uint8Array>>
}

export interface DeliveryResult {
  /**
   * `uploading` and `sending`: not through yet, to be tried again; `failed`: never will be; `uncertain`: it may have arrived.
   */
  status: 'uploading' | 'uploaded' | 'sending' | 'delivered' | 'unsupported' | 'failed' | 'uncertain'
  remoteAssetId?: string
  remoteMessageId?: string
  remoteState?: RemoteState
  failureCode?: string
  /** Wall clock, Unix ms: what the other side asked for. */
  nextAttemptAt?: number
}

export interface DeliveryTransport {
  id: string
  capability: DeliveryCapability
  /** Whether the same operation may arrive twice and count once. Asked inside a transaction. */
  isIdempotent(target: DeliveryTarget): boolean
  /**
   * One attempt, at most 20 s. What it throws counts as an outcome that is not known, but for the `artifact_*` codes, which
   * are the end of the operation.
   */
  execute(operation: ClaimedOperation, signal: AbortSignal): Promise<DeliveryResult>
}

/** What the host hands over: who carries, and where a run's answer is to go. */
export interface DeliveryPort {
  transports: readonly DeliveryTransport[]
  /** Asked at each admission; at most 8 count. */
  targets(query: { sessionId: string; source: Source }): readonly DeliveryTarget[]
}

export interface DeliveryView {
  id: string
  runId: string
  sessionId: string
  transport: string
  targetId: string
  status: DeliveryStatus
  /** Operations that are still to be done. */
  pending: number
  assistantEntryId: string | null
  source: Source
  createdAt: number
  updatedAt: number
  operations: OperationView[]
}

export interface OperationView {
  id: string
  kind: OperationKind
  sequence: number
  status: OperationStatus
  artifactId: string | null
  attempts: number
  nextAttemptAt: number | null
  failureCode: string
  updatedAt: number
}
