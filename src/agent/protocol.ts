/** The part of ACP v1 that a client may send here, parsed where it enters; outgoing shapes are the SDK's types. */
import { z } from 'zod'

const Path = z.string().min(1).max(4_096)
const Absolute = Path.refine((path) => path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path), {
  error: 'an absolute path is needed',
})

export const SessionId = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/)

export const MODES = [
  { id: 'read_only', name: 'Read only', description: 'Asks before every tool; meant for planning.' },
  { id: 'ask', name: 'Ask', description: 'Asks before every tool.' },
  { id: 'anything', name: 'Anything', description: 'Runs every tool without asking.' },
] as const
export const ModeId = z.enum(['read_only', 'ask', 'anything'])
export type ModeId = z.infer<typeof ModeId>

const McpServer = z.object({
  type: z.string().optional(),
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  command: Path.optional(),
  args: z.array(z.string().max(65_536)).max(256).default([]),
  env: z
    .array(z.object({ name: z.string().min(1).max(256), value: z.string().max(65_536) }))
    .max(256)
    .default([]),
})
export type McpServer = z.infer<typeof McpServer>

export const Initialize = z.object({ protocolVersion: z.int().min(0).max(65_535) })

export const NewSession = z.object({
  cwd: Absolute,
  additionalDirectories: z.array(Absolute).max(64).optional(),
  mcpServers: z.array(McpServer).max(32).default([]),
})
export type NewSession = z.infer<typeof NewSession>

export const LoadSession = NewSession.extend({ sessionId: SessionId })
export type LoadSession = z.infer<typeof LoadSession>

export const SetMode = z.object({ sessionId: SessionId, modeId: z.string().max(64) })
export const Cancel = z.object({ sessionId: SessionId })

const ContentBlock = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: z.base64(), mimeType: z.string().max(128) }),
  z.object({ type: z.literal('resource_link'), uri: z.string().max(8_192), name: z.string().max(1_024) }),
  z.object({
    type: z.literal('resource'),
    resource: z.object({ uri: z.string().max(8_192), text: z.string().optional() }),
  }),
])
export type ContentBlock = z.infer<typeof ContentBlock>

export const PromptTurn = z.object({ sessionId: SessionId, prompt: z.array(ContentBlock).min(1).max(256) })

/** What the client answers to `session/request_permission`. */
export const PermissionAnswer = z.object({
  outcome: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('cancelled') }),
    z.object({ outcome: z.literal('selected'), optionId: z.string() }),
  ]),
  _meta: z
    .object({
      wheelhouse: z
        .object({ reason: z.string().max(4_000).nullish() })
        .optional()
        .catch(undefined),
    })
    .nullish()
    .catch(null),
})
