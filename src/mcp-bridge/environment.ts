/** What the host hands over at start. Nothing else of the environment is kept, whatever an agent added to it. */
import { BRIDGE_ENV } from '../shared/mcp-bridge.ts'

export interface BridgeEnvironment {
  tokenSocket: string
  toolsSocket: string
}

/** Drops every undeclared variable first. @throws Error: this is no start by Wheelhouse. */
export function readBridgeEnvironment(env: NodeJS.ProcessEnv): BridgeEnvironment {
  const declared: ReadonlySet<string> = new Set(Object.values(BRIDGE_ENV))
  for (const name of Object.keys(env)) if (!declared.has(name)) delete env[name]
  const tokenSocket = env[BRIDGE_ENV.tokenSocket]
  const toolsSocket = env[BRIDGE_ENV.toolsSocket]
  if (tokenSocket === undefined || toolsSocket === undefined) {
    throw new Error('This program is started by Wheelhouse, for an agent of one of its sessions.')
  }
  return { tokenSocket, toolsSocket }
}
