/**
 * The MCP servers of a session, over stdio: their tools become the model's, each call asked for like any other.
 * What Wheelhouse keeps from a shell it keeps from them, too; what the client gave for a server comes on top.
 */
import { spawn } from 'node:child_process'
import type { JSONSchema7 } from 'ai'
import { z } from 'zod'

import { childEnvironment } from './environment.ts'
import type { McpServer } from './protocol.ts'
import type { Peer } from './rpc.ts'
import { createPeer, RPC, RpcError } from './rpc.ts'
import type { AgentTool, PlannedCall } from './tools/index.ts'
import { shownText } from './tools/index.ts'

const START_TIMEOUT_MS = 20_000
const CALL_TIMEOUT_MS = 10 * 60_000
const MAX_TOOLS = 256
const MAX_PAGES = 32
const RESULT_MAX_CHARS = 256 * 1024
const PROTOCOL_VERSION = '2025-06-18'

export interface McpConnection {
  tools: readonly AgentTool[]
  /** Ends the servers. */
  close(): void
}

const ToolList = z.object({
  tools: z.array(
    z.object({
      name: z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/),
      description: z.string().max(16_384).optional(),
      inputSchema: z.looseObject({ type: z.literal('object') }),
    }),
  ),
  nextCursor: z.string().optional(),
})

const CallResult = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).default([]),
  isError: z.boolean().default(false),
})

/** @throws RpcError with data `{ code: 'mcp_server_unavailable', server }`: one did not start; the others are ended. */
export async function connectMcpServers(servers: readonly McpServer[], cwd: string): Promise<McpConnection> {
  const opened = await Promise.allSettled(servers.map((server) => connect(server, cwd)))
  const connections = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const close = (): void => {
    for (const connection of connections) connection.close()
  }
  const failed = opened.find((result) => result.status === 'rejected')
  if (failed !== undefined) {
    close()
    throw failed.reason
  }
  return { tools: connections.flatMap((connection) => connection.tools), close }
}

async function connect(server: McpServer, cwd: string): Promise<McpConnection> {
  const unavailable = (why: string): RpcError =>
    new RpcError(RPC.internalError, `The MCP server ${server.name} is unavailable: ${why}`, {
      code: 'mcp_server_unavailable',
      server: server.name,
    })
  if (server.command === undefined) throw unavailable('only servers over stdio are supported.')
  const given = Object.fromEntries(server.env.map(({ name, value }) => [name, value]))
  const child = spawn(server.command, server.args, {
    cwd,
    env: { ...childEnvironment(process.env), ...given },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const close = (): void => {
    child.stdin.destroy()
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), 1_000).unref()
  }
  const gone = new AbortController()
  child.once('error', (error) => gone.abort(error))
  child.once('exit', () => gone.abort(new Error('it ended.')))
  const peer = createPeer(child.stdout, child.stdin, {
    request: (method) =>
      method === 'ping' ? Promise.resolve({}) : Promise.reject(new RpcError(RPC.methodNotFound, 'Method not found')),
    notification: () => undefined,
  })
  try {
    const starting = AbortSignal.any([gone.signal, AbortSignal.timeout(START_TIMEOUT_MS)])
    const clientInfo = { name: 'wheelhouse', version: '1' }
    await peer.request('initialize', { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo }, starting)
    await peer.notify('notifications/initialized', {})
    return { tools: await listTools(peer, server.name, starting, gone.signal), close }
  } catch (thrown) {
    close()
    throw unavailable(thrown instanceof Error ? thrown.message : String(thrown))
  }
}

async function listTools(peer: Peer, server: string, signal: AbortSignal, gone: AbortSignal): Promise<AgentTool[]> {
  const tools: AgentTool[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const list = ToolList.parse(await peer.request('tools/list', params, signal))
    for (const tool of list.tools) tools.push(toAgentTool(peer, server, tool, gone))
    cursor = list.nextCursor
    if (cursor === undefined) break
  }
  return tools.slice(0, MAX_TOOLS)
}

function toAgentTool(
  peer: Peer,
  server: string,
  tool: z.infer<typeof ToolList>['tools'][number],
  gone: AbortSignal,
): AgentTool {
  return {
    // Upstreams allow 64 characters of a few kinds in a tool's name.
    name: `mcp__${server}__${tool.name.replaceAll('.', '_')}`.slice(0, 64),
    kind: 'other',
    description: tool.description ?? '',
    input: z.record(z.string(), z.unknown()),
    // Parsed to be an object's schema; the upstream judges the rest of it.
    jsonSchema: tool.inputSchema as JSONSchema7,
    async plan(input): Promise<PlannedCall> {
      return {
        title: `${server}: ${tool.name}`,
        locations: [],
        action: { kind: 'mcp', server, tool: tool.name, input: JSON.stringify(input) },
        preview: [],
        async run(signal) {
          const bounds = AbortSignal.any([signal, gone, AbortSignal.timeout(CALL_TIMEOUT_MS)])
          const params = { name: tool.name, arguments: input }
          const result = CallResult.parse(await peer.request('tools/call', params, bounds))
          const all = result.content.map((part) => part.text ?? `[${part.type}]`).join('\n')
          const text =
            all.length > RESULT_MAX_CHARS ? `${all.slice(0, RESULT_MAX_CHARS)}\n[cut at 256 Ki characters]` : all
          return { text, shown: [shownText(text)], end: result.isError ? 'tool_failed' : 'done' }
        },
      }
    },
  }
}
