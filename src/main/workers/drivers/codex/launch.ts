/** What Codex is started with, and what its thread is given instead: argv is seen by every user of the machine. */
import { z } from 'zod'
import type { Effort, JsonValue } from '../../../../shared/vocabulary.ts'
import { unusable } from '../../errors.ts'
import { WORKER_MARK } from '../../process/source.ts'
import type { McpServer, RoutePlan, SessionConfig } from '../../types.ts'

/** Keys that count at process start alone. */
const AT_START = /^(?:features\.|analytics\.)|^(?:model_catalog_json|cli_auth_credentials_store|forced_login_method)$/

export interface CodexLaunch {
  /** After the program, up to and with `app-server`. */
  args: string[]
  config: Record<string, JsonValue>
}

/** @throws WorkerError `worker_unusable`: the route asks for a flag that is no setting. */
export function codexLaunch(
  cfg: Pick<SessionConfig, 'route' | 'mcp' | 'model' | 'effort'> &
    Partial<Pick<SessionConfig, 'cwd' | 'folderTrusted'>>,
): CodexLaunch {
  const settings = new Map<string, string>([
    // Without it a router that is down is waited for without end.
    ['features.unbounded_connection_retries', 'false'],
  ])
  // For this process alone: what the user's own file says of the folder stays as it is.
  if (cfg.folderTrusted === true) settings.set('projects', `{${JSON.stringify(cfg.cwd)}={trust_level="trusted"}}`)
  if (cfg.mcp === 'exact') {
    settings.set('features.plugins', 'false')
    settings.set('features.apps', 'false')
  }
  const config: Record<string, JsonValue> = {}
  if (cfg.route === null) {
    if (cfg.model !== undefined) config['model'] = cfg.model
    const effort = codexEffort(cfg.effort ?? 'default')
    if (effort !== null) config['model_reasoning_effort'] = effort
  } else {
    for (const [key, value] of routeSettings(cfg.route)) {
      if (AT_START.test(key)) settings.set(key, value)
      else config[key] = readValue(value)
    }
    for (const [key, value] of Object.entries(cfg.route.config)) config[key] = value
  }
  return { args: [...settings].flatMap(([key, value]) => ['-c', `${key}=${value}`]).concat('app-server'), config }
}

function routeSettings(route: RoutePlan): [key: string, value: string][] {
  const settings: [string, string][] = []
  for (let at = 0; at < route.argv.length; at += 2) {
    const flag = route.argv[at]
    const given = route.argv[at + 1]
    const cut = given?.indexOf('=') ?? -1
    if ((flag !== '-c' && flag !== '--config') || given === undefined || cut < 1) {
      throw unusable('Codex was to be started with something that is no setting.', flag)
    }
    settings.push([given.slice(0, cut), given.slice(cut + 1)])
  }
  return settings
}

/** As Codex reads the value of `-c`: TOML (of which JSON's scalars and lists are a part), else the text itself. */
function readValue(text: string): JsonValue {
  try {
    return z.json().parse(JSON.parse(text))
  } catch {
    return text
  }
}

/** Codex's word for an effort; null: say nothing. */
export function codexEffort(effort: Effort): string | null {
  if (effort === 'default') return null
  return effort === 'off' ? 'none' : effort
}

const EFFORTS: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Our word for what Codex says; null for one that we have no word for. */
export function effortOf(told: string | null | undefined): Effort | null {
  if (told === 'none') return 'off'
  return EFFORTS.find((effort) => effort === told) ?? null
}

/** What of the user's own configuration a thread's depends on. */
export const UserConfig = z.object({
  config: z.object({
    mcp_servers: z.record(z.string(), z.unknown()).nullish(),
    shell_environment_policy: z
      .object({ exclude: z.array(z.string()).nullish(), set: z.record(z.string(), z.string()).nullish() })
      .nullish(),
  }),
})
export type UserConfig = z.infer<typeof UserConfig>['config']

/**
 * The thread's own settings: the route's, our MCP servers, and the shells' environment, which is the user's without what
 * the route set and with the worker's mark. With `exact` each server of the user is switched off by name.
 */
export function threadConfig(
  cfg: Pick<SessionConfig, 'workerId' | 'route' | 'mcp' | 'mcpServers'>,
  base: Readonly<Record<string, JsonValue>>,
  user: UserConfig,
): Record<string, JsonValue> {
  const servers: Record<string, JsonValue> = {}
  if (cfg.mcp === 'exact') for (const name of Object.keys(user.mcp_servers ?? {})) servers[name] = { enabled: false }
  for (const server of cfg.mcpServers) servers[server.name] = mcpConfig(server, cfg.workerId)
  const shells = user.shell_environment_policy
  const hidden = Object.keys(cfg.route?.envSet ?? {})
  return {
    ...base,
    ...(Object.keys(servers).length === 0 ? {} : { mcp_servers: servers }),
    shell_environment_policy: {
      set: { ...shells?.set, [WORKER_MARK]: cfg.workerId },
      ...(hidden.length === 0 ? {} : { exclude: [...(shells?.exclude ?? []), ...hidden] }),
    },
  }
}

/** `required`: a broken one fails the thread's start, and a thread that starts has it connected. */
function mcpConfig({ command, args, env }: McpServer, workerId: string): JsonValue {
  return { command, args: [...args], env: { ...env, [WORKER_MARK]: workerId }, required: true, enabled: true }
}
