import { z } from 'zod'
import { Source, TargetRuns } from '../vocabulary.ts'
import { mutation, query, topic } from './define.ts'
import type { ProcedureMap, TopicMap } from './define.ts'

const name = z.string().trim().min(1).max(80)
const common = { name, enabled: z.boolean().default(true), runs: TargetRuns.default('all') }

/** A header of a request as RFC 9110 spells its name. */
const HeaderName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/)

/** A place as a form sends it. Of a webhook the address and the token may be left out: what is stored stays. */
export const TargetInput = z.discriminatedUnion('kind', [
  z.strictObject({
    ...common,
    kind: z.literal('webhook'),
    /** http or https, without a login in it. It is kept like a key, since many such addresses are one. */
    url: z.string().min(1).max(2_048).optional(),
    /** Sent as a bearer token. Null: none. */
    token: z
      .string()
      .regex(/^[\u0021-\u007e]{1,2048}$/)
      .nullable()
      .optional(),
    /** The header in which the receiver looks for a key that makes a second arrival count once. */
    idempotencyHeader: HeaderName.nullable().default(null),
  }),
  z.strictObject({ ...common, kind: z.literal('file_drop'), folder: z.string().min(1).max(4_096) }),
  z.strictObject({ ...common, kind: z.literal('os_notification') }),
])
export type TargetInput = z.input<typeof TargetInput>
export type ParsedTarget = z.output<typeof TargetInput>

export const TargetView = z.object({
  id: z.string(),
  kind: z.enum(['webhook', 'file_drop', 'os_notification']),
  name: z.string(),
  enabled: z.boolean(),
  runs: TargetRuns,
  folder: z.string().nullable(),
  /** Of a webhook: scheme and host alone. */
  address: z.string().nullable(),
  hasToken: z.boolean(),
  /** What is sent there can be read on its way. */
  plaintext: z.boolean(),
  idempotencyHeader: z.string().nullable(),
  /** Why nothing can be sent there now; null: something can. */
  unusable: z.string().nullable(),
})
export type TargetView = z.infer<typeof TargetView>

const OperationView = z.object({
  id: z.string(),
  kind: z.enum(['send_text', 'upload_artifact', 'send_artifact', 'send_fallback_text']),
  sequence: z.int(),
  status: z.enum([
    'pending',
    'uploading',
    'uploaded',
    'sending',
    'retry_wait',
    'delivered',
    'unsupported',
    'failed',
    'uncertain',
  ]),
  artifactId: z.string().nullable(),
  attempts: z.int(),
  nextAttemptAt: z.number().nullable(),
  failureCode: z.string(),
  updatedAt: z.number(),
})

/** One run's answer on its way to one place, piece by piece. */
export const DeliveryView = z.object({
  id: z.string(),
  runId: z.string(),
  sessionId: z.string(),
  sessionTitle: z.string(),
  transport: z.string(),
  targetId: z.string(),
  /** Null: the place is not set up any more. */
  targetName: z.string().nullable(),
  status: z.enum(['pending', 'delivered', 'failed', 'uncertain', 'cancelled']),
  /** Pieces that are still to be sent. */
  pending: z.int(),
  source: Source,
  createdAt: z.number(),
  updatedAt: z.number(),
  operations: z.array(OperationView),
})
export type DeliveryView = z.infer<typeof DeliveryView>

export const deliveryProcedures = {
  /** Newest first; `before` is the id of the last one that is known. */
  'deliveries.list': query({
    input: z.strictObject({
      sessionId: z.uuid().optional(),
      runId: z.uuid().optional(),
      status: DeliveryView.shape.status.optional(),
      before: z.string().max(64).optional(),
      limit: z.int().min(1).max(200).default(50),
    }),
    output: z.object({ deliveries: z.array(DeliveryView), next: z.string().nullable() }),
  }),
  /** Tries a piece that failed, or of which nobody knows whether it arrived, once more: it may arrive twice. */
  'deliveries.retry': mutation({
    input: z.strictObject({ operationId: z.string().max(64) }),
    output: z.object({ reopened: z.boolean() }),
  }),
  'deliveries.targets.list': query({
    input: z.strictObject({}),
    output: z.object({
      targets: z.array(TargetView),
      /** Why this host can show no notification of the system; null: it can. */
      notificationsUnavailable: z.string().nullable(),
    }),
  }),
  /** Without an id a new one. Runs that were admitted before keep the places that they were admitted with. */
  'deliveries.targets.save': mutation({
    input: z.strictObject({ id: z.uuid().optional(), target: TargetInput }),
    output: TargetView,
    secretInput: true,
  }),
  'deliveries.targets.delete': mutation({
    input: z.strictObject({ id: z.uuid() }),
    output: z.object({ deleted: z.boolean() }),
  }),
  /** Sends a line that says it is a test. `failureCode` says what went wrong. */
  'deliveries.targets.test': mutation({
    input: z.strictObject({ id: z.uuid() }),
    output: z.object({ delivered: z.boolean(), failureCode: z.string().nullable() }),
  }),
} satisfies ProcedureMap

export const deliveryTopics = {
  deliveries: topic({
    filter: z.strictObject({}),
    event: z.union([
      z.object({ kind: z.literal('targets'), targets: z.array(TargetView) }),
      z.object({ kind: z.literal('delivery'), delivery: DeliveryView }),
    ]),
  }),
} satisfies TopicMap
