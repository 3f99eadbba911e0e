import type { ClientId, JsonValue, RuntimeChoice } from '../../../shared/vocabulary.ts'
import type { Secret } from '../../platform/types.ts'

/** `inherited`: the environment the worker would get; read for `NO_PROXY` alone. */
export interface LaunchRequest {
  workerId: string
  sessionId: string
  client: ClientId
  form: 'app_server' | 'cli' | 'acp_adapter' | 'builtin'
  choice: RuntimeChoice
  inherited: Readonly<Record<string, string>>
  /** `off`: no request of it goes to another Provider than the chosen one. */
  failover?: 'off'
  /** Claude Code: the settings files of the folder that it will load, by their full paths; the person's own is known. */
  settingsFiles?: readonly string[]
}

/**
 * How a worker is started on its route. argv and environment hold no secret, except that of Claude Code's ACP
 * adapter, whose route id has no other way in. `key` goes to descriptor 3, or into the agent's own protocol. `toJSON` throws.
 */
export interface RoutePlan {
  readonly argv: readonly string[]
  readonly config: Readonly<Record<string, JsonValue>>
  readonly key?: Secret
  readonly envSet: Readonly<Record<string, string>>
  readonly envUnset: readonly string[]
  readonly warnings: readonly 'route_open_to_commands'[]
}
