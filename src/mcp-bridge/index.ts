/**
 * Wheelhouse's own MCP server: a process that an agent starts like any other of its servers. It takes its worker's token,
 * hands it to no child (it has none), and passes tool calls on to the host.
 */
import { readBridgeEnvironment } from './environment.ts'
import { serveMcp } from './server.ts'
import { takeToken } from './token.ts'
import { connectTools } from './tools.ts'

const { tokenSocket, toolsSocket } = readBridgeEnvironment(process.env)
await serveMcp(process.stdin, process.stdout, async () => connectTools(toolsSocket, await takeToken(tokenSocket)))
process.exit(0)
