/** A worker's configuration with Wheelhouse's own MCP server in it, as the executor makes one. */
import { fileURLToPath } from 'node:url'
import { serveTools } from '../../../src/main/executor/mcp/tools-socket.ts'
import { createSecret } from '../../../src/main/platform/index.ts'
import type { Secret } from '../../../src/main/platform/index.ts'
import type { Handoff, SessionConfig, TokenSocket } from '../../../src/main/workers/index.ts'
import { BRIDGE_ENV } from '../../../src/shared/mcp-bridge.ts'
import { clock } from './harness.ts'
import type { Harness } from './harness.ts'

export const BRIDGE = fileURLToPath(new URL('../../../src/mcp-bridge/index.ts', import.meta.url))
export const TOKEN = 'token-of-a-test-0123456789-0123456789-0123456789'

export interface BridgedConfig extends AsyncDisposable {
  cfg: SessionConfig
  token: TokenSocket
  secret: Secret
  handoffs: Handoff[]
  /** What was called, and with what. */
  calls: [tool: string, args: unknown][]
}

/** `dir`: where the sockets are to lie; default: the worker's private folder. */
export async function bridgeFor(h: Harness, dir = h.cfg.privateDir): Promise<BridgedConfig> {
  const secret = createSecret(TOKEN)
  const token = await h.workers.serveToken(secret, dir)
  const handoffs: Handoff[] = []
  token.onHandoff((handoff) => handoffs.push(handoff))
  const calls: [string, unknown][] = []
  const path = `${token.dir}/c.sock`
  const tools = await serveTools({
    clock,
    path,
    tokenSha256: secret.sha256(),
    tools: [{ name: 'echo', description: 'Says it again.', inputSchema: { type: 'object' } }],
    call(tool, args) {
      calls.push([tool, args])
      return Promise.resolve({ text: JSON.stringify(args), failed: tool !== 'echo' })
    },
  })
  const server = {
    name: 'wheelhouse',
    command: process.execPath,
    args: [BRIDGE],
    env: { [BRIDGE_ENV.tokenSocket]: token.path, [BRIDGE_ENV.toolsSocket]: path },
  }
  return {
    cfg: {
      ...h.cfg,
      mcpServers: [server],
      token,
      scope: { ...h.cfg.scope, socketDir: token.dir },
      redaction: { ...h.cfg.redaction, secrets: [secret] },
    },
    token,
    secret,
    handoffs,
    calls,
    async [Symbol.asyncDispose]() {
      await tools[Symbol.asyncDispose]()
      await token.close()
    },
  }
}
