import { z } from 'zod'
import { ClientId, Effort, RuntimeChoice } from '../vocabulary.ts'
import { mutation, query, topic } from './define.ts'
import type { ProcedureMap, TopicMap } from './define.ts'
import { RuntimeEffect } from './sessions.ts'

export const PresetId = z.enum([
  'rehearsal',
  'openai',
  'openrouter',
  'anthropic',
  'deepseek',
  'ollama',
  'lmstudio',
  'custom',
])
export type PresetId = z.infer<typeof PresetId>

export const ModelView = z.object({
  id: z.string(),
  displayName: z.string().optional(),
  available: z.boolean(),
  enabled: z.boolean(),
  known: z.boolean(),
  efforts: z.array(Effort).optional(),
  source: z.enum(['bundled', 'discovered', 'lkg', 'manual', 'codex_cache']),
})
export type ModelView = z.infer<typeof ModelView>

/** Who answers when the default's Provider does not; in order, of the same agent, none of them the default itself. */
export const FailoverRule = z.strictObject({
  chain: z
    .array(z.strictObject({ connectionId: z.uuid(), modelId: z.string().max(256) }))
    .min(1)
    .max(4),
  /** Also when it has too much to do. */
  on429: z.boolean(),
  /** Also those that cannot read a session's hidden reasoning, which is then cut from its history, for good. */
  allowHistoryStrip: z.boolean(),
})
export type FailoverRule = z.infer<typeof FailoverRule>

/** Never a key, a reference to one, a route or a preset's address: only what a person may read. */
export const ConnectionView = z.object({
  id: z.string(),
  name: z.string(),
  preset: PresetId,
  client: ClientId,
  /** A built-in agent's connection may speak either; absent where preset and client leave one. */
  protocol: z.enum(['responses', 'anthropic_messages']).optional(),
  /** The API that it is spoken to in, chosen or not. */
  speaks: z.enum(['responses', 'anthropic_messages']),
  baseUrl: z.string().optional(),
  authMode: z.enum(['none', 'bearer', 'x_api_key']).optional(),
  manualModelId: z.string().optional(),
  smallModelId: z.string().optional(),
  credentialEnv: z.string().optional(),
  /** Preset `openai` alone: WebSockets are carried, not answered with 426. */
  tunnelWebSocket: z.boolean().optional(),
  credentialReady: z.boolean(),
  /** The last characters behind bullets. */
  credentialHint: z.string().optional(),
  /** It failed again and again; `untilMs`: unix ms, when it is tried again. Absent: all is well. */
  breaker: z.object({ state: z.enum(['open', 'probing']), untilMs: z.number() }).optional(),
  /** Why it did not answer when it was last asked for its models. Absent: it did, or was not asked since it changed. */
  refusal: z.object({ code: z.string(), message: z.string() }).optional(),
  warnings: z.array(z.string()),
})
export type ConnectionView = z.infer<typeof ConnectionView>

export const CatalogView = z.object({
  revision: z.int(),
  connections: z.array(ConnectionView),
  defaults: z.partialRecord(
    ClientId,
    z.object({ connectionId: z.string(), modelId: z.string(), failover: FailoverRule.optional() }),
  ),
  presets: z.array(
    z.object({
      id: PresetId,
      label: z.string(),
      clients: z.array(ClientId),
      needsKey: z.boolean(),
      /** The form's fields that this preset leaves free. */
      fields: z.array(z.string()),
      advanced: z.boolean(),
    }),
  ),
  models: z.record(z.string(), z.array(ModelView)),
  credentialBackend: z.enum(['keychain', 'file', 'memory', 'unavailable']),
})
export type CatalogView = z.infer<typeof CatalogView>

const connectionInput = z.strictObject({
  id: z.uuid().optional(),
  name: z.string().max(256),
  client: ClientId,
  preset: PresetId,
  protocol: z.enum(['responses', 'anthropic_messages']).optional(),
  baseUrl: z.string().max(2_048).optional(),
  authMode: z.enum(['none', 'bearer', 'x_api_key']).optional(),
  manualModelId: z.string().max(300).optional(),
  smallModelId: z.string().max(300).optional(),
  credentialEnv: z.string().max(128).optional(),
  tunnelWebSocket: z.boolean().optional(),
})

/** The one field of the bridge that carries a key: parsed to a `Secret` at the host's edge, printed nowhere. */
const key = z.string().max(4_096).optional()

/** `modelId` of `to` is the session's own where the connection offers it. */
export const SwitchStep = z.object({
  sessionId: z.string(),
  from: RuntimeChoice,
  to: RuntimeChoice,
  effect: RuntimeEffect,
})
export type SwitchStep = z.infer<typeof SwitchStep>

/**
 * `input` is uncached; null: no answer said. The key is a day (`2026-01-31`), a model's or another id; grouped by session, what
 * came through the machine gateway has the empty one. Times are means over the requests that got so far, in ms.
 */
export const UsageRow = z.object({
  key: z.string(),
  requests: z.int(),
  failed: z.int(),
  input: z.int().nullable(),
  cacheRead: z.int().nullable(),
  cacheWrite: z.int().nullable(),
  output: z.int().nullable(),
  reasoning: z.int().nullable(),
  firstByteMs: z.number().nullable(),
  totalMs: z.number().nullable(),
})
export type UsageRow = z.infer<typeof UsageRow>

const saved = z.object({ catalog: CatalogView, connectionId: z.string().nullable(), durable: z.boolean() })

export const providerProcedures = {
  'providers.list': query({ input: z.strictObject({}), output: CatalogView }),
  'providers.upsert': mutation({
    input: z.strictObject({ connection: connectionInput, key, expectedRevision: z.int() }),
    output: saved,
    secretInput: true,
  }),
  'providers.delete': mutation({ input: z.strictObject({ id: z.uuid(), expectedRevision: z.int() }), output: saved }),
  'providers.setDefault': mutation({
    input: z.strictObject({
      client: ClientId,
      connectionId: z.uuid().nullable(),
      modelId: z.string().max(256).default(''),
      expectedRevision: z.int(),
    }),
    output: saved,
  }),
  /** The rule of the agent's default. Null: no other Provider ever answers. */
  'providers.setFailover': mutation({
    input: z.strictObject({ client: ClientId, rule: FailoverRule.nullable(), expectedRevision: z.int() }),
    output: saved,
  }),
  'providers.credential.clear': mutation({
    input: z.strictObject({ id: z.uuid(), expectedRevision: z.int() }),
    output: saved,
  }),
  /** Every key to the keychain, or to the private file: whole, or not at all. */
  'providers.credentials.move': mutation({
    input: z.strictObject({ to: z.enum(['keychain', 'file']) }),
    output: saved,
    deadlineMs: 120_000,
  }),
  /** The kinds of Provider that run on this machine and answer now. */
  'providers.local': query({ input: z.strictObject({}), output: z.object({ found: z.array(PresetId) }) }),
  /** Tests what a form holds, saved or not. Writes nothing. */
  'providers.test': query({
    input: z.strictObject({ connection: connectionInput, key }),
    output: z.object({ modelCount: z.int(), latencyMs: z.number() }),
    secretInput: true,
  }),
  'providers.testSaved': query({
    input: z.strictObject({ id: z.uuid() }),
    output: z.object({ modelCount: z.int(), latencyMs: z.number() }),
  }),
  'providers.discover': mutation({
    input: z.strictObject({ id: z.uuid(), force: z.boolean().default(true) }),
    output: z.object({ models: z.array(ModelView), stale: z.boolean() }),
    deadlineMs: 60_000,
  }),
  'providers.setModelSupport': mutation({
    /** Of those that are shown: a Provider's own, at most 5,000, the typed one and the default. */
    input: z.strictObject({ id: z.uuid(), enabledIds: z.array(z.string().max(256)).max(5_002) }),
    output: saved,
  }),
  /** What moving every running session of that agent to the connection would do to each. Changes nothing. */
  'providers.previewSwitch': query({
    input: z.strictObject({ client: ClientId, connectionId: z.uuid(), allowHistoryStrip: z.boolean().default(false) }),
    output: z.object({ modelId: z.string(), steps: z.array(SwitchStep) }),
  }),
  /** Makes it the agent's default and moves its running sessions; those that refuse stay, and are named. */
  'providers.switch': mutation({
    input: z.strictObject({
      client: ClientId,
      connectionId: z.uuid(),
      expectedRevision: z.int(),
      allowHistoryStrip: z.boolean().default(false),
    }),
    output: z.object({ catalog: CatalogView, steps: z.array(SwitchStep), durable: z.boolean() }),
  }),
  /** What Router and gateway counted in the last days, by day, session, Provider or model. */
  'usage.summary': query({
    input: z.strictObject({
      by: z.enum(['day', 'session', 'connection', 'model']),
      days: z.int().min(1).max(366).default(30),
    }),
    output: z.object({ rows: z.array(UsageRow) }),
  }),
} satisfies ProcedureMap

export const providerTopics = {
  /** The whole catalog, at the start and after each change. */
  providers: topic({ filter: z.strictObject({}), event: CatalogView }),
} satisfies TopicMap
