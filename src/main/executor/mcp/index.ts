/** MCP servers: those that a person set up, and Wheelhouse's own. */
export { createMcpServers } from './mcp-servers.ts'
export { testMcpServer } from './test-server.ts'
export { serveOwnTools } from './own-server.ts'
export type { BridgeProgram, OwnServer } from './own-server.ts'
export type { ArtifactPort } from './publish-tool.ts'
export type { McpServers, ResolvedServer, SecretStore } from './types.ts'
export { failedServer, leftOut, serversFor, serversVersion } from './for-worker.ts'
export type { WorkerServers } from './for-worker.ts'
