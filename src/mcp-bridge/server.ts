/** An MCP server over stdio that passes its calls on to the host. */
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { z } from 'zod'
import { BRIDGE_NAME } from '../shared/mcp-bridge.ts'
import type { HostTools } from './tools.ts'

const PROTOCOL_VERSIONS = ['2025-06-18', '2025-03-26', '2024-11-05'] as const
const VERSION = '1.0.0'
const PARSE_ERROR = -32_700
const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602
const INTERNAL_ERROR = -32_603

const Message = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
})
const Initialize = z.object({ protocolVersion: z.string().max(64) })
const CallTool = z.object({ name: z.string().max(64), arguments: z.record(z.string(), z.unknown()).default({}) })

/** Serves until the input ends. `connect` is called once, at the first message that needs the host. */
export async function serveMcp(input: Readable, output: Writable, connect: () => Promise<HostTools>): Promise<void> {
  let host: Promise<HostTools> | null = null
  const hostTools = (): Promise<HostTools> => (host ??= connect())

  const send = (message: object): void => void output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

  async function answer(method: string, params: unknown): Promise<object> {
    switch (method) {
      case 'initialize': {
        const { protocolVersion } = Initialize.parse(params)
        const known = PROTOCOL_VERSIONS.find((version) => version === protocolVersion) ?? PROTOCOL_VERSIONS[0]
        // Before the answer: an agent that starts its servers one after another takes it for ready then.
        await hostTools()
        return {
          protocolVersion: known,
          capabilities: { tools: {} },
          serverInfo: { name: BRIDGE_NAME, title: 'Wheelhouse', version: VERSION },
        }
      }
      case 'ping':
        return {}
      case 'tools/list':
        return { tools: (await hostTools()).tools }
      case 'tools/call': {
        const { name, arguments: args } = CallTool.parse(params)
        const { text, failed } = await (await hostTools()).call(name, args)
        return { content: [{ type: 'text', text }], isError: failed }
      }
      default:
        throw new MethodNotFound(method)
    }
  }

  async function take(line: string): Promise<void> {
    let json: unknown
    try {
      json = JSON.parse(line)
    } catch {
      return send({ id: null, error: { code: PARSE_ERROR, message: 'This line is not JSON.' } })
    }
    const parsed = Message.safeParse(json)
    // A notification, or an answer to something that was never asked.
    if (!parsed.success || parsed.data.id === undefined || parsed.data.method === undefined) return
    const { id, method, params } = parsed.data
    try {
      send({ id, result: await answer(method, params) })
    } catch (error) {
      send({ id, error: errorOf(error) })
    }
  }

  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() !== '') void take(line)
  }
}

class MethodNotFound extends Error {}

function errorOf(error: unknown): { code: number; message: string } {
  if (error instanceof MethodNotFound) return { code: METHOD_NOT_FOUND, message: 'Method not found' }
  if (error instanceof z.ZodError) return { code: INVALID_PARAMS, message: 'Invalid params' }
  return { code: INTERNAL_ERROR, message: error instanceof Error ? error.message : 'Internal error' }
}
