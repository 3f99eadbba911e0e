import type { z } from 'zod'

/** One call of the bridge. Types are inferred from the schemas, never written twice. */
export interface Procedure<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  kind: 'query' | 'mutation'
  input: I
  output: O
  /** After this long the caller gets `deadline_exceeded`; the host aborts the work. */
  deadlineMs: number
  /** The input holds a key: no log prints the frame. */
  secretInput: boolean
}

/** One stream of the bridge. A resumable one replays from `after`; every other begins with a whole snapshot. */
export interface Topic<F extends z.ZodType = z.ZodType, E extends z.ZodType = z.ZodType> {
  filter: F
  event: E
  resumable: boolean
}

export const DEFAULT_DEADLINE_MS = 30_000

interface ProcedureOptions<I extends z.ZodType, O extends z.ZodType> {
  input: I
  output: O
  deadlineMs?: number
  secretInput?: boolean
}

export function query<I extends z.ZodType, O extends z.ZodType>(options: ProcedureOptions<I, O>): Procedure<I, O> {
  return { kind: 'query', deadlineMs: DEFAULT_DEADLINE_MS, secretInput: false, ...options }
}

export function mutation<I extends z.ZodType, O extends z.ZodType>(options: ProcedureOptions<I, O>): Procedure<I, O> {
  return { kind: 'mutation', deadlineMs: DEFAULT_DEADLINE_MS, secretInput: false, ...options }
}

export function topic<F extends z.ZodType, E extends z.ZodType>(options: {
  filter: F
  event: E
  resumable?: boolean
}): Topic<F, E> {
  return { resumable: false, ...options }
}

export type ProcedureMap = Readonly<Record<string, Procedure>>
export type TopicMap = Readonly<Record<string, Topic>>
