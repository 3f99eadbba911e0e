import { z } from 'zod'
import { AgentId } from '../vocabulary.ts'
import { EnvName } from '../mcp.ts'
import { mutation, query, topic } from './define.ts'
import type { ProcedureMap, TopicMap } from './define.ts'

/** One thing that a machine has or lacks, with what to do about it. */
export const Check = z.object({
  id: z.string(),
  label: z.string(),
  status: z.enum(['pass', 'warn', 'fail']),
  message: z.string(),
  hint: z.string().nullable(),
})
export type Check = z.infer<typeof Check>

export const AgentView = z.object({
  id: AgentId,
  label: z.string(),
  /** Ready to take a prompt on this machine. */
  available: z.boolean(),
  version: z.string().nullable(),
  path: z.string().nullable(),
  checks: z.array(Check),
  /** True until a preflight has run. */
  unchecked: z.boolean(),
  /** How it is started, where a person added it. */
  commandLine: z.string().optional(),
  /** What this agent asks otherwise than its modes would have one think. */
  remark: z.string().optional(),
  /** How commands begin that it runs unasked, by rules of the person's own in it. Only `agents.list` says it. */
  unasked: z.array(z.string()).optional(),
  /** Null: a session can keep it to its folders; else why not. Only `agents.list` says it. */
  whyNotConfined: z.string().nullable().optional(),
  /** Whose form a project's own settings have that it reads once the project is trusted. */
  project: z.enum(['claude', 'codex']).optional(),
})
export type AgentView = z.infer<typeof AgentView>

export const WorkerView = z.object({
  workerId: z.string(),
  sessionId: z.string().nullable(),
  sessionTitle: z.string().nullable(),
  product: z.string(),
  pid: z.number().nullable(),
  state: z.enum(['starting', 'live', 'idle', 'releasing', 'held']),
  sinceMs: z.number(),
  /** Why it could not be proven gone. */
  heldReason: z.enum(['group_outlived_leader', 'identity_unknown', 'platform_unsupported']).nullable(),
})
export type WorkerView = z.infer<typeof WorkerView>

export const Folder = z.object({ path: z.string(), name: z.string() })

/** For everyone: an app-wide fact that no view holds. */
export const Notice = z.object({
  id: z.string(),
  code: z.string(),
  message: z.string(),
  level: z.enum(['info', 'warning', 'error']),
  at: z.number(),
})
export type Notice = z.infer<typeof Notice>

export const systemProcedures = {
  'system.info': query({
    input: z.strictObject({}),
    output: z.object({
      version: z.string(),
      host: z.enum(['electron', 'browser', 'cli']),
      platform: z.string(),
      dataDir: z.string(),
      homeDir: z.string(),
      /** A fresh folder that the first run offers; not made before it is used. */
      suggestedWorkDir: z.string(),
      canPickFolder: z.boolean(),
      firstRun: z.boolean(),
    }),
  }),
  /** What `wheelhouse doctor` prints. */
  'system.health': query({
    /** Without the agents it answers at once: each of them is started to be checked. */
    input: z.strictObject({ agents: z.boolean().default(true) }),
    output: z.object({ checks: z.array(Check) }),
    deadlineMs: 60_000,
  }),
  'system.logs.tail': query({
    input: z.strictObject({ lines: z.int().min(1).max(1_000).default(200) }),
    output: z.object({ lines: z.array(z.string()) }),
  }),
  /** One archive that says how this installation is: redacted, without transcripts, projects and keys. */
  'diagnostics.export': query({
    input: z.strictObject({}),
    output: z.object({ filename: z.string(), base64: z.string() }),
    deadlineMs: 120_000,
  }),
  'system.pickFolder': mutation({
    input: z.strictObject({}),
    output: z.object({ path: z.string().nullable() }),
    deadlineMs: 600_000,
  }),
  /** A second start on the same data folder: brings the window to the front, or answers a one-time link. CLI clients only. */
  'system.activate': mutation({
    input: z.strictObject({ want: z.enum(['window', 'link']) }),
    output: z.object({ url: z.string().nullable() }),
  }),
  'settings.get': query({ input: z.strictObject({}), output: z.object({ values: z.record(z.string(), z.unknown()) }) }),
  'settings.set': mutation({
    input: z.strictObject({ key: z.string().max(64), value: z.unknown() }),
    output: z.object({ values: z.record(z.string(), z.unknown()), durable: z.boolean() }),
  }),
  'agents.list': query({ input: z.strictObject({}), output: z.object({ agents: z.array(AgentView) }) }),
  'agents.preflight': mutation({ input: z.strictObject({ agentId: AgentId }), output: AgentView, deadlineMs: 120_000 }),
  /** Known agents that are installed here and not added yet. */
  'agents.suggested': query({
    input: z.strictObject({}),
    output: z.object({ agents: z.array(z.object({ label: z.string(), commandLine: z.string() })) }),
  }),
  /**
   * Checks a command that speaks the Agent Client Protocol, and adds it as an agent: where a check fails, only if
   * `evenSo`. No prompt is sent.
   */
  'agents.add': mutation({
    input: z.strictObject({
      label: z.string().trim().min(1).max(64),
      commandLine: z.string().trim().min(1).max(4_096),
      /** Variables of this machine's environment that it is given, such as the one of its key. */
      passEnv: z.array(EnvName).max(64).default([]),
      evenSo: z.boolean().default(false),
    }),
    output: z.object({ agent: AgentView, added: z.boolean() }),
    deadlineMs: 120_000,
  }),
  /** Its sessions stay, and can be read. */
  'agents.remove': mutation({
    input: z.strictObject({ agentId: AgentId }),
    output: z.object({ removed: z.literal(true) }),
  }),
  'projects.recent': query({
    input: z.strictObject({}),
    output: z.object({
      projects: z.array(z.object({ path: z.string(), name: z.string(), lastUsedAt: z.number(), exists: z.boolean() })),
    }),
  }),
  /** Names of folders alone, for choosing one where no system dialog can be shown. `path: null` is the home folder. */
  'fs.folders': query({
    input: z.strictObject({
      path: z.string().max(4_096).nullable(),
      after: z.string().max(255).optional(),
      hidden: z.boolean().default(false),
    }),
    output: z.object({
      path: z.string(),
      parent: z.string().nullable(),
      folders: z.array(Folder),
      next: z.string().nullable(),
    }),
  }),
  /** Makes a project folder that the person named, and every missing one above it. */
  'fs.createFolder': mutation({
    input: z.strictObject({ path: z.string().min(1).max(4_096) }),
    output: z.object({ path: z.string() }),
  }),
  'workers.list': query({ input: z.strictObject({}), output: z.object({ workers: z.array(WorkerView) }) }),
  'workers.terminate': mutation({
    input: z.strictObject({ workerId: z.string() }),
    output: z.object({ outcome: z.enum(['gone', 'held']) }),
    deadlineMs: 60_000,
  }),
  /** A person gives a held worker's slot free; signals nothing. */
  'workers.settle': mutation({
    input: z.strictObject({ workerId: z.string() }),
    output: z.object({ settled: z.literal(true) }),
  }),
  /** What this window shows and whether it has the focus. */
  'presence.set': mutation({
    input: z.strictObject({ shows: z.string().max(128).nullable(), focused: z.boolean() }),
    output: z.object({ ok: z.literal(true) }),
  }),
} satisfies ProcedureMap

export const systemTopics = {
  settings: topic({ filter: z.strictObject({}), event: z.object({ values: z.record(z.string(), z.unknown()) }) }),
  workers: topic({ filter: z.strictObject({}), event: z.object({ workers: z.array(WorkerView) }) }),
  notices: topic({
    filter: z.strictObject({}),
    event: z.union([
      z.object({ kind: z.literal('snapshot'), notices: z.array(Notice) }),
      z.object({ kind: z.literal('notice'), notice: Notice }),
    ]),
  }),
} satisfies TopicMap
