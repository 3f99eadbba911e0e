/** The MCP servers of one worker, ready to be given to its agent: the person's, and Wheelhouse's own beside them. */
import { BRIDGE_NAME } from '../../../shared/mcp-bridge.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Secret } from '../../platform/index.ts'
import type { ExecutionSink, ExecutionSpec } from '../../runtime/index.ts'
import { WorkerError } from '../../workers/index.ts'
import type { McpServer, TokenSocket } from '../../workers/index.ts'
import type { Parts } from '../types.ts'
import { serveOwnTools } from './own-server.ts'
import type { OwnServer } from './own-server.ts'

export interface WorkerServers {
  servers: readonly McpServer[]
  /** Names of those without which the worker may go on. */
  optional: ReadonlySet<string>
  secrets: readonly Secret[]
  token: TokenSocket | null
  /** For a worker that did not come to be, or is gone. */
  close(): Promise<void>
}

export interface ServersRequest {
  spec: ExecutionSpec
  privateDir: string
  env: Readonly<Record<string, string>>
  /** Names that failed before and are left out. */
  without: ReadonlySet<string>
  run: () => { runId: string; cwd: string } | null
  sink: ExecutionSink
}

/** @throws AppError `mcp_server_unavailable`: a required one is not on this machine; `credential_store_*`. */
export async function serversFor(parts: Parts, request: ServersRequest): Promise<WorkerServers> {
  const { spec, env, without, sink } = request
  const { mcpServers, mcpRequired, roots } = spec.policy
  const required = new Set(mcpRequired)
  const names = mcpServers.filter((name) => !without.has(name))
  const { servers, missing } = await parts.mcp.resolve(roots[0] ?? '', names, env)
  for (const name of missing) {
    if (required.has(name)) {
      throw new AppError('mcp_server_unavailable', `The MCP server ${name} is needed and is not on this machine.`, {
        detail: name,
      })
    }
    sink.push(leftOut(name))
  }
  const own = without.has(BRIDGE_NAME) ? null : await ownTools(parts, request)
  const given = servers.map(({ server }) => server)
  return {
    servers: own === null ? given : [...given, own.server],
    optional: new Set([BRIDGE_NAME, ...given.map(({ name }) => name).filter((name) => !required.has(name))]),
    secrets: [...servers.flatMap(({ secrets }) => secrets), ...(own === null ? [] : [own.secret])],
    token: own?.token ?? null,
    close: () => own?.close() ?? Promise.resolve(),
  }
}

/** A machine on which no socket can be made still runs agents. */
async function ownTools(parts: Parts, { privateDir, run }: ServersRequest): Promise<OwnServer | null> {
  if (parts.bridge === null) return null
  try {
    return await serveOwnTools(parts, parts.bridge, privateDir, run)
  } catch (error) {
    parts.log.warn("Wheelhouse's own tools cannot be given to an agent", { error })
    return null
  }
}

/**
 * The optional server for which a start failed; null: it failed for something else. Where the agent only says that one of
 * them failed, the first that its words name is taken.
 */
export function failedServer(thrown: unknown, { optional }: WorkerServers): string | null {
  if (!(thrown instanceof WorkerError) || thrown.code !== 'mcp_mismatch' || thrown.started === 'held') return null
  const { detail = '' } = thrown
  if (optional.has(detail)) return detail
  const words = new Set(detail.split(/[^A-Za-z0-9_-]+/))
  return [...optional].find((name) => words.has(name)) ?? null
}

export function leftOut(name: string): Parameters<ExecutionSink['push']>[0] {
  return {
    kind: 'notice',
    code: 'mcp_server_unavailable',
    message: `The MCP server ${name} did not come up. The agent works without it.`,
    level: 'warning',
  }
}

/** Changes when a worker would be given other servers than it was. */
export function serversVersion(parts: Pick<Parts, 'mcp'>, spec: ExecutionSpec): string {
  const { mcpServers, roots } = spec.policy
  if (mcpServers.length === 0) return ''
  const wanted = new Set(mcpServers)
  const offered = parts.mcp.offered(roots[0] ?? '').filter(({ name }) => wanted.has(name))
  return offered.map(({ version }) => version).join(' ')
}
