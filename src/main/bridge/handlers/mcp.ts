import type { mcpProcedures } from '../../../shared/bridge/mcp.ts'
import type { AgentExecutor, McpServers } from '../../executor/index.ts'
import type { HandlersOf } from '../types.ts'

export function mcpHandlers({
  mcp,
  executor,
}: {
  mcp: McpServers
  executor: Pick<AgentExecutor, 'testMcp'>
}): HandlersOf<typeof mcpProcedures> {
  return {
    'mcp.list': ({ workDir }) => ({ servers: [...mcp.list(workDir)] }),
    'mcp.upsert': ({ server, expectedRev }) => mcp.upsert(server, expectedRev),
    'mcp.delete': async ({ id, expectedRev }) => {
      await mcp.delete(id, expectedRev)
      return { deleted: true }
    },
    'mcp.test': ({ server }, { signal }) => executor.testMcp(server, signal),
  }
}
