/** The frames of the bridge: JSON over WebSocket and `host.sock`, the same objects over Electron's IPC. */
import { z } from 'zod'
import { isErrorCode } from '../errors.ts'
import type { WireError } from '../errors.ts'

export const PROTOCOL_VERSION = 1

/** Every bound is enforced by the host and tested. */
export const WIRE_LIMITS = {
  inputBytes: 1_048_576,
  outputBytes: 4_194_304,
  callsInFlight: 64,
  subscriptions: 128,
  badFramesInARow: 20,
  /** The transport stops pulling from a topic above this. */
  bufferedBytes: 262_144,
  /** Of answers that a client does not read; above this its connection is closed. */
  unreadBytes: 33_554_432,
  /** A client that reads nothing for this long is ended with `lagged`. */
  laggedAfterMs: 30_000,
} as const

const id = z.int().min(0).max(Number.MAX_SAFE_INTEGER)
const name = z.string().min(1).max(64)

export const ClientFrame = z.union([
  z.strictObject({ id, call: name, input: z.unknown() }),
  z.strictObject({ id, cancel: z.literal(true) }),
  z.strictObject({ id, sub: name, filter: z.unknown(), after: z.int().min(0).optional() }),
  z.strictObject({ id, unsub: z.literal(true) }),
])
export type ClientFrame = z.infer<typeof ClientFrame>

const wireError = z.object({
  code: z.custom<WireError['code']>((value) => typeof value === 'string' && isErrorCode(value)),
  message: z.string(),
  detail: z.string().optional(),
  data: z.unknown().optional(),
  retryable: z.boolean(),
})

export const Hello = z.object({
  protocol: z.number(),
  /** Unguessable, fresh for each connection. */
  generation: z.string(),
  app: z.string(),
  installation: z.string(),
  capabilities: z.array(z.string()),
})
export type Hello = z.infer<typeof Hello>

/** Why a topic ended: `lagged` (too slow: subscribe again from the last seq), `gone` (its subject was deleted), `stopping`. */
export const EndReason = z.enum(['lagged', 'gone', 'stopping', 'error'])
export type EndReason = z.infer<typeof EndReason>

export const HostFrame = z.union([
  z.object({ hello: Hello }),
  z.object({ id, ok: z.literal(true), output: z.unknown() }),
  z.object({ id, ok: z.literal(false), error: wireError }),
  z.object({ id, event: z.unknown() }),
  z.object({ id, end: EndReason, error: wireError.optional() }),
  /** The host could not read a frame: no id to answer to. */
  z.object({ bad: wireError }),
])
export type HostFrame = z.infer<typeof HostFrame>
