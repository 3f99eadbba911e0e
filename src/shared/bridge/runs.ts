import { z } from 'zod'
import { ErrorInfo, SessionEvent } from '../events.ts'
import { RunViewSchema } from '../projection/index.ts'
import { Actor, Answer, Mode, Risk, RunState } from '../vocabulary.ts'
import { mutation, query, topic } from './define.ts'
import type { ProcedureMap, TopicMap } from './define.ts'
import { DecisionView } from './sessions.ts'

const sessionId = z.uuid()
const runId = z.uuid()
/** Attachments, in the order of the prompt. */
const inputs = z.array(z.uuid()).max(20).default([])
/** The host itself gives up after five minutes. */
const ASIDE_DEADLINE_MS = 330_000

export const SubmitReceipt = z.object({ runId: z.string(), state: RunState, replayed: z.boolean() })
export type SubmitReceipt = z.infer<typeof SubmitReceipt>

export const DecisionOutcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('resolved') }),
  z.object({ kind: z.literal('already_resolved'), answer: Answer, by: Actor, atMs: z.number() }),
  z.object({ kind: z.literal('closed'), status: z.enum(['cancelled', 'timed_out', 'withdrawn']), atMs: z.number() }),
])
export type DecisionOutcome = z.infer<typeof DecisionOutcome>

export const runProcedures = {
  'runs.submit': mutation({
    input: z.strictObject({
      sessionId,
      /** May be empty where there are attachments. */
      text: z.string().max(262_144),
      inputs,
      /** The client's own id of this submission: sending it again answers the same run. */
      key: z.string().trim().min(1).max(200).optional(),
      mode: Mode.optional(),
      /** Requests of this run go to the session's Provider alone, whatever a failover rule says. */
      failover: z.literal('off').optional(),
    }),
    output: SubmitReceipt,
  }),
  'runs.lookup': query({
    input: z.strictObject({
      sessionId,
      text: z.string(),
      inputs,
      key: z.string().trim().min(1).max(200),
      mode: Mode.optional(),
      failover: z.literal('off').optional(),
    }),
    output: z.object({ run: SubmitReceipt.nullable() }),
  }),
  'runs.stop': mutation({
    input: z.strictObject({ sessionId, expectedRunId: runId.optional() }),
    output: z.object({ code: z.string() }),
  }),
  'runs.retry': mutation({
    input: z.strictObject({
      runId,
      key: z.string().trim().min(1).max(200).optional(),
      acknowledgeSideEffects: z.boolean().default(false),
    }),
    output: SubmitReceipt,
  }),
  'runs.steer': mutation({
    input: z.strictObject({
      sessionId,
      expectedRunId: runId,
      text: z.string().min(1).max(262_144),
      key: z.string().min(1).max(200).optional(),
    }),
    output: z.object({ status: z.enum(['delivered', 'undelivered']), replayed: z.boolean() }),
  }),
  /** A question beside the conversation: it changes nothing and leaves nothing. */
  'runs.aside': mutation({
    input: z.strictObject({ sessionId, text: z.string().min(1).max(262_144) }),
    output: z.object({
      outcome: z.enum(['completed', 'incomplete', 'cancelled', 'failed']),
      text: z.string(),
      error: ErrorInfo.nullable(),
    }),
    deadlineMs: ASIDE_DEADLINE_MS,
  }),
  'runs.get': query({
    input: z.strictObject({ runId }),
    output: z.object({ sessionId: z.string(), run: RunViewSchema }),
  }),
  'runs.events': query({
    input: z.strictObject({ sessionId, afterSeq: z.int().min(0), limit: z.int().min(1).max(1_000).default(500) }),
    output: z.object({ events: z.array(SessionEvent), headSeq: z.int(), floorSeq: z.int(), hasMore: z.boolean() }),
  }),
  'decisions.pending': query({ input: z.strictObject({}), output: z.object({ decisions: z.array(DecisionView) }) }),
  /** Newest first, of one session or of all. `next` is the `before` of the page that follows. */
  'decisions.history': query({
    input: z.strictObject({
      sessionId: sessionId.optional(),
      runId: runId.optional(),
      /** How it ended: allowed, refused, or without an answer. */
      outcome: z.enum(['pending', 'allowed', 'refused', 'unanswered']).optional(),
      by: z.enum(['person', 'policy']).optional(),
      risk: Risk.optional(),
      /** The id of the last one that is known. */
      before: z.uuid().optional(),
      limit: z.int().min(1).max(200).default(50),
    }),
    output: z.object({ decisions: z.array(DecisionView), next: z.string().nullable() }),
  }),
  'decisions.resolve': mutation({
    input: z.strictObject({ decisionId: z.uuid(), answer: Answer }),
    output: DecisionOutcome,
  }),
  /** Pages an action that is too long for its card. `offset` in UTF-16 units. */
  'decisions.preview': query({
    input: z.strictObject({ decisionId: z.uuid(), offset: z.int().min(0) }),
    output: z.object({ text: z.string(), bytes: z.int(), next: z.int().nullable() }),
  }),
} satisfies ProcedureMap

export const runTopics = {
  decisions: topic({
    filter: z.strictObject({}),
    event: z.union([
      z.object({ kind: z.literal('snapshot'), decisions: z.array(DecisionView) }),
      z.object({ kind: z.literal('requested'), decision: DecisionView }),
      /** `decision` with its answer, who gave it, and when. */
      z.object({ kind: z.literal('settled'), decision: DecisionView }),
    ]),
  }),
} satisfies TopicMap
