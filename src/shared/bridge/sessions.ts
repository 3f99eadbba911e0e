import { z } from 'zod'
import { SessionEvent } from '../events.ts'
import { DecisionItemSchema, RunViewSchema } from '../projection/index.ts'
import { AgentId, Effort, Mode, RunState, RuntimeChoice, Source } from '../vocabulary.ts'
import { mutation, query, topic } from './define.ts'
import type { ProcedureMap, TopicMap } from './define.ts'

const sessionId = z.uuid()
const folder = z.string().min(1).max(4_096)

/** One dot in the list: held and recovering come from the supervisor and the recovery, the rest from the newest run. */
export const SessionState = z.enum(['idle', 'starting', 'running', 'waiting', 'failed', 'held', 'recovering'])
export type SessionState = z.infer<typeof SessionState>

export const SessionView = z.object({
  id: z.string(),
  title: z.string(),
  agentId: AgentId,
  workDir: z.string(),
  extraDirs: z.array(z.string()),
  mode: Mode,
  choice: RuntimeChoice,
  /** For people: "Work · gpt-5.5", or the agent's own login. */
  choiceLabel: z.string(),
  /** The model is the rehearsal: said wherever the session is shown. */
  rehearsal: z.boolean(),
  /** The agent is kept to the session's folders. Absent: it is not. */
  sandbox: z.literal(true).optional(),
  configRev: z.int(),
  state: SessionState,
  activeRun: z
    .object({ runId: z.string(), state: RunState, startedAt: z.number().nullable(), createdAt: z.number() })
    .nullable(),
  lastRun: z
    .object({ runId: z.string(), state: RunState, finishedAt: z.number(), errorCode: z.string().nullable() })
    .nullable(),
  pendingDecisions: z.int(),
  headSeq: z.int(),
  createdAt: z.number(),
  updatedAt: z.number(),
  archivedAt: z.number().nullable(),
})
export type SessionView = z.infer<typeof SessionView>

/** One per session. Queued: submitted when the run that is under way completes. */
export const Draft = z.object({
  rev: z.int(),
  text: z.string().max(262_144),
  inputIds: z.array(z.string()),
  queued: z.boolean(),
})
export type Draft = z.infer<typeof Draft>

/** A pending decision with what a card needs to stand on its own. */
export const DecisionView = DecisionItemSchema.extend({
  sessionId: z.string(),
  runId: z.string(),
  sessionTitle: z.string(),
  agentId: AgentId,
  workDir: z.string(),
  /** How a reason of the person's reaches this agent. */
  refusalReason: z.enum(['in_answer', 'steer', 'next_prompt']),
})
export type DecisionView = z.infer<typeof DecisionView>

export const Snapshot = z.object({
  session: SessionView,
  /** Oldest first. */
  turns: z.array(RunViewSchema),
  hasEarlier: z.boolean(),
  headSeq: z.int(),
  floorSeq: z.int(),
  pending: z.array(DecisionView),
  draft: Draft.nullable(),
})
export type Snapshot = z.infer<typeof Snapshot>

export const RuntimeEffect = z.union([
  z.object({ kind: z.enum(['now', 'next_turn']), historyStripped: z.boolean() }),
  z.object({ kind: z.literal('refused'), code: z.string() }),
])

export const ConfigView = z.object({
  rev: z.int(),
  mode: z.object({
    value: Mode,
    options: z.array(z.object({ value: Mode, available: z.boolean(), why: z.string().nullable() })),
  }),
  /** Whether the agent is kept to the session's folders, and whether it can be. */
  sandbox: z.object({ value: z.boolean(), available: z.boolean(), why: z.string().nullable() }).optional(),
  choice: RuntimeChoice,
  choices: z.array(
    z.object({
      /** With the effort "default"; `efforts` are what else it can be asked for. */
      choice: RuntimeChoice,
      label: z.string(),
      ready: z.boolean(),
      efforts: z.array(Effort),
      /** What the session would meet on changing to it; null where nobody can say before it is tried. */
      effect: RuntimeEffect.nullable(),
    }),
  ),
  /** `agent`: the models came from the agent itself (its own login). */
  source: z.enum(['catalog', 'agent']),
})
export type ConfigView = z.infer<typeof ConfigView>

/** One entry that was found, and one line of it; `marks` are the ranges of that line that matched. */
export const SearchHit = z.object({
  entryId: z.string(),
  sessionId: z.string(),
  sessionTitle: z.string(),
  /** The view to show: its run's, or the turn's own where the run is not kept. */
  turnId: z.string().nullable(),
  runId: z.string().nullable(),
  seq: z.int(),
  kind: z.enum(['user', 'assistant', 'tool', 'summary']),
  at: z.number(),
  snippet: z.object({ text: z.string(), marks: z.array(z.tuple([z.int(), z.int()])) }),
})
export type SearchHit = z.infer<typeof SearchHit>

const AgentCommand = z.object({ name: z.string(), description: z.string() })

/** Who executes a session's run that has not ended, as the records have it. */
export const OwnershipView = z.object({
  sessionId: z.string(),
  sessionTitle: z.string(),
  state: z.enum([
    'local',
    'external',
    'detached_remote',
    'reserved',
    'orphaned',
    'recovery_failed',
    'inconsistent',
    'unknown',
    'idle',
  ]),
  run: z.object({ runId: z.string(), state: RunState, startedAt: z.number().nullable(), source: Source }).nullable(),
  /** The host's process, not the agent's. */
  ownerPid: z.number().nullable(),
  /** Until then nobody else may execute it. */
  lease: z
    .object({ purpose: z.enum(['admission', 'execution', 'recovery', 'mutation', 'fork']), expiresAt: z.number() })
    .nullable(),
  recovery: z.object({ attempt: z.int(), lastError: z.string().nullable(), nextAt: z.number().nullable() }).nullable(),
  error: z.string().nullable(),
})
export type OwnershipView = z.infer<typeof OwnershipView>

export const sessionProcedures = {
  'sessions.list': query({
    input: z.strictObject({
      archived: z.boolean().default(false),
      limit: z.int().min(1).max(500).default(100),
      offset: z.int().min(0).default(0),
    }),
    output: z.object({ sessions: z.array(SessionView), total: z.int() }),
  }),
  'sessions.ownership': query({
    input: z.strictObject({}),
    output: z.object({ owners: z.array(OwnershipView) }),
  }),
  'sessions.get': query({ input: z.strictObject({ sessionId }), output: SessionView }),
  'sessions.create': mutation({
    input: z.strictObject({
      agentId: AgentId,
      workDir: folder,
      title: z.string().max(200).optional(),
      extraDirs: z.array(folder).max(16).default([]),
      mode: Mode.optional(),
      choice: RuntimeChoice.optional(),
      /** Keeps the agent to the folders of the session. */
      sandbox: z.boolean().default(false),
    }),
    output: SessionView,
  }),
  'sessions.rename': mutation({
    input: z.strictObject({ sessionId, title: z.string().trim().min(1).max(200) }),
    output: SessionView,
  }),
  'sessions.archive': mutation({ input: z.strictObject({ sessionId, archived: z.boolean() }), output: SessionView }),
  'sessions.delete': mutation({ input: z.strictObject({ sessionId }), output: z.object({ deleted: z.literal(true) }) }),
  'sessions.setRoots': mutation({
    input: z.strictObject({ sessionId, dirs: z.array(folder).max(16), expectedRev: z.int() }),
    output: SessionView,
  }),
  'sessions.snapshot': query({
    input: z.strictObject({ sessionId, beforeTurn: z.string().optional(), limit: z.int().min(1).max(50).default(20) }),
    output: Snapshot,
  }),
  /** The same `requestId` is the same fork. `atRun`: the child ends with that turn. */
  'sessions.fork': mutation({
    input: z.strictObject({
      sessionId,
      atRun: z.uuid().optional(),
      requestId: z.string().min(1).max(256),
    }),
    output: SessionView,
  }),
  /**
   * The whole session as text, a page at a time, the newest turns first: the text of a later page stands before that of an
   * earlier one. `before` is the one of the page before.
   */
  'sessions.export': query({
    input: z.strictObject({
      sessionId,
      format: z.enum(['markdown', 'jsonl']),
      before: z.string().max(64).optional(),
    }),
    output: z.object({ filename: z.string(), text: z.string(), before: z.string().nullable() }),
  }),
  'sessions.search': query({
    input: z.strictObject({
      text: z.string().max(200),
      sessionId: sessionId.optional(),
      before: z.int().optional(),
      limit: z.int().min(1).max(100).default(20),
    }),
    output: z.object({ sessions: z.array(SessionView), hits: z.array(SearchHit), next: z.int().nullable() }),
  }),
  'sessions.config.get': query({ input: z.strictObject({ sessionId }), output: ConfigView }),
  'sessions.config.set': mutation({
    input: z.strictObject({
      sessionId,
      expectedRev: z.int(),
      mode: Mode.optional(),
      sandbox: z.boolean().optional(),
      choice: RuntimeChoice.optional(),
      /** The Provider alone, in place of `choice`: model and effort follow as far as it has them. Null: the agent's own login. */
      connectionId: z.string().max(64).nullable().optional(),
      allowHistoryStrip: z.boolean().default(false),
    }),
    output: z.object({ rev: z.int(), effect: RuntimeEffect }),
  }),
  'drafts.get': query({ input: z.strictObject({ sessionId }), output: z.object({ draft: Draft.nullable() }) }),
  'drafts.set': mutation({
    input: z.strictObject({
      sessionId,
      expectedRev: z.int(),
      text: z.string().max(262_144),
      inputIds: z.array(z.uuid()).max(20).default([]),
      queued: z.boolean().default(false),
    }),
    output: Draft,
  }),
} satisfies ProcedureMap

export const sessionTopics = {
  sessions: topic({
    filter: z.strictObject({}),
    event: z.union([
      z.object({ kind: z.literal('snapshot'), sessions: z.array(SessionView) }),
      z.object({ kind: z.literal('changed'), session: SessionView }),
      z.object({ kind: z.literal('removed'), sessionId: z.string() }),
    ]),
  }),
  /** What an agent takes as a slash command, once it has said so. */
  commands: topic({
    filter: z.strictObject({}),
    event: z.union([
      z.object({
        kind: z.literal('snapshot'),
        sessions: z.array(z.object({ sessionId: z.string(), commands: z.array(AgentCommand) })),
      }),
      z.object({ kind: z.literal('changed'), sessionId: z.string(), commands: z.array(AgentCommand) }),
    ]),
  }),
  'session.events': topic({ filter: z.strictObject({ sessionId }), event: SessionEvent, resumable: true }),
} satisfies TopicMap
