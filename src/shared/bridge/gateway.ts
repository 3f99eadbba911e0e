import { z } from 'zod'
import { mutation, query, topic } from './define.ts'
import type { ProcedureMap, TopicMap } from './define.ts'

export const GatewayClient = z.enum(['codex', 'claude'])
export type GatewayClient = z.infer<typeof GatewayClient>

/** How a config file names the gateway. */
export const ProjectionKind = z.enum(['base_url', 'provider_table', 'env'])
export type ProjectionKind = z.infer<typeof ProjectionKind>

export const TakeoverDetail = z.enum([
  'provider_line_user_changed',
  'block_user_changed',
  'marker_unclosed',
  'markers_missing',
  'projection_missing',
  'address_changed',
  'config_missing',
  'config_malformed',
  'config_unreadable',
  'state_missing',
  'state_unreadable',
  'half_done',
  'original_unrecoverable',
  'gateway_not_listening',
  'table_taken',
])
export type TakeoverDetail = z.infer<typeof TakeoverDetail>

export const TakeoverWarning = z.enum([
  'config_world_readable',
  'profile_overrides_provider',
  'config_path_changed',
  'other_auth_present',
  'higher_scope_overrides',
  'managed_settings_present',
  'system_proxy_may_capture_loopback',
  'login_goes_to_the_port',
  'threads_hide',
  'not_durable',
])
export type TakeoverWarning = z.infer<typeof TakeoverWarning>

export const TakeoverView = z.object({
  client: GatewayClient,
  state: z.enum(['active', 'inactive', 'drifted', 'broken']),
  detail: TakeoverDetail.nullable(),
  warnings: z.array(TakeoverWarning),
  configPath: z.string(),
  kind: ProjectionKind.nullable(),
  /** `provider_table` alone: Codex stays signed in. */
  keepLogin: z.boolean(),
  /** Switched on, whatever became of it. */
  enabled: z.boolean(),
  restoreAvailable: z.boolean(),
})
export type TakeoverView = z.infer<typeof TakeoverView>

export const GatewayView = z.object({
  listening: z.boolean(),
  address: z.string(),
  /** Why it does not listen, where it should. */
  code: z.string().nullable(),
  /** Connection ids. */
  upstreams: z.object({ codex: z.string().nullable(), claude: z.string().nullable() }),
  takeovers: z.array(TakeoverView),
})
export type GatewayView = z.infer<typeof GatewayView>

/** Exactly what would change in the file; what may be a secret is blanked in its lines. */
export const TakeoverPlan = z.object({
  client: GatewayClient,
  kind: ProjectionKind,
  keepLogin: z.boolean(),
  path: z.string(),
  creates: z.boolean(),
  hunks: z.array(z.object({ line: z.int(), before: z.array(z.string()), after: z.array(z.string()) })),
  digest: z.string(),
  warnings: z.array(TakeoverWarning),
})
export type TakeoverPlan = z.infer<typeof TakeoverPlan>

/** A request as the inspector keeps it: never a body, a header, an address or a route. */
export const RequestView = z.object({
  id: z.int(),
  at: z.number(),
  /** Null: it came by the gateway. */
  sessionId: z.string().nullable(),
  client: z.enum(['builtin', 'codex', 'claude']),
  connectionId: z.string(),
  endpoint: z.string(),
  modelAsked: z.string().nullable(),
  modelSent: z.string(),
  flags: z.array(z.string()),
  status: z.int().nullable(),
  code: z.string().nullable(),
  end: z.string(),
  bytesIn: z.number(),
  bytesOut: z.number(),
  firstByteMs: z.number().nullable(),
  totalMs: z.number(),
  tokens: z
    .object({
      input: z.number().nullable(),
      cacheRead: z.number().nullable(),
      cacheWrite: z.number().nullable(),
      output: z.number().nullable(),
      reasoning: z.number().nullable(),
    })
    .nullable(),
  requestId: z.string().nullable(),
})
export type RequestView = z.infer<typeof RequestView>

const client = z.strictObject({ client: GatewayClient })
const wanted = {
  client: GatewayClient,
  /** Absent: as it is, or what fits this machine. */
  kind: ProjectionKind.optional(),
  keepLogin: z.boolean().optional(),
  /** Another file than the client's usual one: for the command line alone. */
  configPath: z.string().max(4_096).optional(),
}
const changed = z.object({ gateway: GatewayView, durable: z.boolean() })

export const gatewayProcedures = {
  'gateway.status': query({ input: z.strictObject({}), output: GatewayView }),
  'gateway.setUpstream': mutation({
    input: z.strictObject({ client: GatewayClient, connectionId: z.uuid().nullable() }),
    output: changed,
  }),
  'gateway.plan': query({
    input: z.strictObject(wanted),
    output: TakeoverPlan,
  }),
  'gateway.enable': mutation({
    input: z.strictObject({
      ...wanted,
      /** Of the plan that was shown. */
      digest: z.string().max(128),
    }),
    output: changed,
  }),
  'gateway.disable': mutation({ input: client, output: changed }),
  'gateway.repair': mutation({ input: client, output: changed }),
  'gateway.restoreBackup': mutation({ input: client, output: changed }),
  /** A new key for the gateway: the old one opens nothing from then on, and the files that lead to it get the new one. */
  'gateway.rotateKey': mutation({ input: z.strictObject({}), output: changed }),
  /** The newest requests of all agents, the newest first. Gone at a restart. */
  'gateway.requests': query({
    input: z.strictObject({ limit: z.int().min(1).max(500).default(100) }),
    output: z.object({ requests: z.array(RequestView) }),
  }),
} satisfies ProcedureMap

export const gatewayTopics = {
  /** The whole status, at the start and whenever it may have changed. */
  gateway: topic({ filter: z.strictObject({}), event: GatewayView }),
  /** The newest hundred requests, the newest first, then each one as it ends. */
  requests: topic({
    filter: z.strictObject({}),
    event: z.union([
      z.object({ kind: z.literal('snapshot'), requests: z.array(RequestView) }),
      z.object({ kind: z.literal('request'), request: RequestView }),
    ]),
  }),
} satisfies TopicMap
