/** The MCP servers of a person and of projects. */
export { McpServers } from './McpServers.tsx'
