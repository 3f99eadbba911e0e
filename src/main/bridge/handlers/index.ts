import type { Places } from '../../deliveries/index.ts'
import type { FolderTrust, McpServers, ProviderSwitch, SessionRuntimes } from '../../executor/index.ts'
import type { Providers } from '../../providers/index.ts'
import type { Schedules } from '../../schedules/index.ts'
import type { Handlers } from '../types.ts'
import { deliveryHandlers } from './deliveries.ts'
import { gatewayHandlers } from './gateway.ts'
import { inputHandlers } from './inputs.ts'
import { mcpHandlers } from './mcp.ts'
import { providerHandlers } from './providers.ts'
import { ruleHandlers } from './rules.ts'
import { runHandlers } from './runs.ts'
import { scheduleHandlers } from './schedules.ts'
import { sessionHandlers } from './sessions.ts'
import { systemHandlers } from './system.ts'
import type { SystemHandlerDeps } from './system.ts'
import { trustHandlers } from './trust.ts'

export type { ShellPort } from './system.ts'

export interface HandlerDeps extends SystemHandlerDeps {
  providers: Providers
  runtimes: SessionRuntimes
  providerSwitch: ProviderSwitch
  places: Places
  schedules: Schedules
  mcp: McpServers
  trust: FolderTrust
}

export function createHandlers(deps: HandlerDeps): Handlers {
  return {
    ...systemHandlers(deps),
    ...sessionHandlers({ ...deps, settings: deps.platform.settings }),
    ...runHandlers(deps),
    ...inputHandlers(deps),
    ...ruleHandlers(deps),
    ...deliveryHandlers(deps),
    ...scheduleHandlers(deps),
    ...providerHandlers(deps),
    ...gatewayHandlers(deps),
    ...mcpHandlers(deps),
    ...trustHandlers(deps),
  }
}
