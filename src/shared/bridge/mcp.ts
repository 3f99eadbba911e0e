import { z } from 'zod'
import { McpServerInput, McpServerView, McpTestResult } from '../mcp.ts'
import { mutation, query } from './define.ts'
import type { ProcedureMap } from './define.ts'

export const mcpProcedures = {
  /** All of them, or those that a session in `workDir` gets. */
  'mcp.list': query({
    input: z.strictObject({ workDir: z.string().max(4_096).optional() }),
    output: z.object({ servers: z.array(McpServerView) }),
  }),
  'mcp.upsert': mutation({
    input: z.strictObject({ server: McpServerInput, expectedRev: z.int().nonnegative() }),
    output: McpServerView,
    secretInput: true,
  }),
  'mcp.delete': mutation({
    input: z.strictObject({ id: z.uuid(), expectedRev: z.int() }),
    output: z.object({ deleted: z.literal(true) }),
  }),
  /** Starts the server as a session would, asks for its tools, and ends it. */
  'mcp.test': mutation({
    input: z.strictObject({ server: McpServerInput }),
    output: McpTestResult,
    secretInput: true,
    deadlineMs: 60_000,
  }),
} satisfies ProcedureMap
