/** Wheelhouse's own MCP server for one worker: its token, the socket of its tools, and how the agent starts it. */
import { join } from 'node:path'
import { BRIDGE_ENV, BRIDGE_NAME } from '../../../shared/mcp-bridge.ts'
import { createSecret } from '../../platform/index.ts'
import type { Clock, Ids, Log, Secret } from '../../platform/index.ts'
import type { McpServer, TokenSocket, Workers } from '../../workers/index.ts'
import { PUBLISH_TOOL, publishArtifact } from './publish-tool.ts'
import type { ArtifactPort } from './publish-tool.ts'
import { serveTools } from './tools-socket.ts'

/** How the bridge is started: this very program, as plain Node. */
export interface BridgeProgram {
  command: string
  script: string
}

export interface OwnServer {
  server: McpServer
  token: TokenSocket
  /** Counts as a secret of the worker. */
  secret: Secret
  /** Ends the tools' socket; the worker ends the token's. */
  close(): Promise<void>
}

export interface OwnServerDeps {
  clock: Clock
  ids: Ids
  log: Log
  workers: Pick<Workers, 'serveToken'>
  artifacts: ArtifactPort
}

/** `run`: whose files are published now; null between runs. @throws WorkerError as `Workers.serveToken`. */
export async function serveOwnTools(
  deps: OwnServerDeps,
  program: BridgeProgram,
  privateDir: string,
  run: () => { runId: string; cwd: string } | null,
): Promise<OwnServer> {
  const secret = createSecret(Buffer.from(deps.ids.bytes(32)).toString('base64url'))
  const token = await deps.workers.serveToken(secret, privateDir)
  const path = join(token.dir, 'c.sock')
  try {
    const tools = await serveTools({
      clock: deps.clock,
      path,
      tokenSha256: secret.sha256(),
      tools: [PUBLISH_TOOL],
      call: (tool, args, signal) =>
        tool === PUBLISH_TOOL.name
          ? publishArtifact(deps.artifacts, run(), args, signal)
          : Promise.resolve({ text: 'There is no such tool.', failed: true }),
    })
    let closed: Promise<void> | null = null
    return {
      server: {
        name: BRIDGE_NAME,
        command: program.command,
        args: [program.script],
        env: {
          ELECTRON_RUN_AS_NODE: '1',
          [BRIDGE_ENV.tokenSocket]: token.path,
          [BRIDGE_ENV.toolsSocket]: path,
        },
      },
      token,
      secret,
      close() {
        closed ??= Promise.all([tools[Symbol.asyncDispose](), token.close()]).then(() => undefined)
        return closed
      },
    }
  } catch (error) {
    await token.close()
    throw error
  }
}
