/**
 * What the host and the MCP bridge say to each other: one JSON object a line. First the token is handed over at one
 * socket, against the proof that the bridge belongs to its worker; then tools are called at another, which the token
 * opens.
 */
import { z } from 'zod'

/** Names of the bridge's environment; everything else in it is dropped at its start. */
export const BRIDGE_ENV = {
  tokenSocket: 'WHEELHOUSE_TOKEN_SOCKET',
  toolsSocket: 'WHEELHOUSE_TOOLS_SOCKET',
  mark: 'WHEELHOUSE_WORKER',
} as const

/** The name under which an agent knows the bridge. */
export const BRIDGE_NAME = 'wheelhouse'

/** To the bridge: hold this file open, so that it can be seen who you are. */
export const Challenge = z.strictObject({ open: z.string().max(4_096) })
/** From the bridge: it is open. */
export const Opened = z.strictObject({ opened: z.literal(true) })
/** To the bridge. */
export const TokenFrame = z.strictObject({ token: z.string().min(32).max(256) })
/** From the bridge: the token is taken. */
export const Taken = z.strictObject({ taken: z.literal(true) })

/** One tool as an agent sees it. */
export const BridgeTool = z.object({
  name: z.string().regex(/^[a-z_]{1,64}$/),
  description: z.string().max(4_096),
  inputSchema: z.record(z.string(), z.unknown()),
})
export type BridgeTool = z.infer<typeof BridgeTool>

/** To the bridge, once its token was found right. */
export const ToolsFrame = z.object({ tools: z.array(BridgeTool).max(64) })
/** From the bridge. */
export const ToolCall = z.strictObject({
  id: z.int().nonnegative(),
  tool: z.string().max(64),
  arguments: z.record(z.string(), z.unknown()),
})
/** To the bridge. `failed`: the text says why. */
export const ToolAnswer = z.object({ id: z.int(), text: z.string(), failed: z.boolean() })
export type ToolAnswer = z.infer<typeof ToolAnswer>

/** Longest frame on either socket, bytes of UTF-8. */
export const BRIDGE_FRAME_BYTES = 1_048_576
