/** What a person says of an MCP server, and what is told of it. */
import { z } from 'zod'

/** For every session of this person, or for those whose folder is this one or lies below it. */
export const McpScope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('person') }),
  z.strictObject({ kind: z.literal('project'), path: z.string().min(1).max(4_096) }),
])
export type McpScope = z.infer<typeof McpScope>

/** As agents spell it in the names of tools: `mcp__<name>__<tool>`. `wheelhouse` is our own. */
export const McpName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/)
  .refine((name) => !name.includes('__') && name !== 'wheelhouse')

export const EnvName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/)
const NO_NUL = /^[^\0]*$/

const Common = {
  scope: McpScope,
  name: McpName,
  /** A program by its absolute path, or by a name on the PATH. */
  command: z.string().min(1).max(4_096).regex(NO_NUL),
  args: z.array(z.string().max(32_768).regex(NO_NUL)).max(256),
  /** A session whose agent cannot reach it does not start; without it, the session goes on without the server. */
  required: z.boolean(),
  enabled: z.boolean(),
}

export const McpServerView = z.object({
  id: z.string(),
  ...Common,
  name: z.string(),
  /** `value: null`: it is a secret, and is kept. */
  env: z.array(z.object({ name: z.string(), value: z.string().nullable() })),
  rev: z.int(),
})
export type McpServerView = z.infer<typeof McpServerView>

export const McpServerInput = z.strictObject({
  id: z.uuid().optional(),
  ...Common,
  /** A secret with `value: null` keeps what is stored. */
  env: z
    .array(
      z.strictObject({ name: EnvName, value: z.string().max(65_536).regex(NO_NUL).nullable(), secret: z.boolean() }),
    )
    .max(64),
})
export type McpServerInput = z.infer<typeof McpServerInput>

export const McpTestResult = z.object({
  ok: z.boolean(),
  /** What the server calls itself. */
  server: z.object({ name: z.string(), version: z.string() }).nullable(),
  tools: z.array(z.string()),
  /** What happened, for a person; empty when it works. */
  message: z.string(),
  hint: z.string().nullable(),
})
export type McpTestResult = z.infer<typeof McpTestResult>
