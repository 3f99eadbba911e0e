/**
 * How each client is pointed at its route. argv and environment hold no secret: the route id travels on a descriptor or
 * in the agent's own protocol, except for Claude Code's ACP adapter, which takes nothing else.
 */
import { AppError } from '../../../shared/errors.ts'
import type { JsonValue } from '../../../shared/vocabulary.ts'
import type { Secret } from '../../platform/types.ts'
import type { BindingJson } from '../routes/binding.ts'
import { notWire } from '../routes/binding.ts'
import type { Effort, LaunchRequest, RoutePlan } from '../types.ts'
import { noProxy, PLACEHOLDER } from './environment.ts'

export interface PlanInput {
  request: LaunchRequest
  binding: Readonly<BindingJson>
  port: number
  routeId: string
  key: Secret
  /** Every connection's own variable: an exported real key is not inherited. */
  credentialEnvs: readonly string[]
  /** Null: none was written. */
  codexCatalogPath: string | null
}

const CODEX_UNSET = [
  'OPENAI_API_KEY',
  'CODEX_API_KEY',
  'CODEX_ACCESS_TOKEN',
  'OPENAI_BASE_URL',
  'OPENAI_ORGANIZATION',
  'OPENAI_PROJECT',
] as const

const CLAUDE_UNSET = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'ANTHROPIC_CUSTOM_HEADERS',
  'ANTHROPIC_UNIX_SOCKET',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
] as const

/** @throws AppError `model_profile_unsupported`: this client is not started in that form. */
export function launchPlan(input: PlanInput): RoutePlan {
  const { client, form } = input.request
  if (client === 'codex' && (form === 'app_server' || form === 'acp_adapter')) {
    return finish(input, codexServer(input), CODEX_UNSET)
  }
  if (client === 'claude' && form === 'cli') return finish(input, claudeCli(input), CLAUDE_UNSET)
  if (client === 'claude' && form === 'acp_adapter') return finish(input, claudeAdapter(input), CLAUDE_UNSET)
  if (client === 'builtin' && form === 'builtin') return finish(input, builtin(input), [])
  throw new AppError('model_profile_unsupported', 'This agent cannot be started on a Provider in this form.', {
    detail: `${client} as ${form}`,
  })
}

interface Projection {
  argv?: readonly string[]
  config?: Record<string, JsonValue>
  key?: Secret
  env?: Record<string, string>
  warnings?: RoutePlan['warnings']
}

function finish(input: PlanInput, projection: Projection, unset: readonly string[]): RoutePlan {
  const envSet = { ...noProxy(input.request.inherited), ...projection.env }
  const envUnset = [...new Set([...unset, ...input.credentialEnvs])].filter((name) => !Object.hasOwn(envSet, name))
  return notWire({
    argv: projection.argv ?? [],
    config: projection.config ?? {},
    ...(projection.key === undefined ? {} : { key: projection.key }),
    envSet,
    envUnset,
    warnings: projection.warnings ?? [],
  })
}

/** For the app-server, and for the adapter that starts one: it takes the same settings and hands the same key over. */
function codexServer({ binding, port, key, codexCatalogPath }: PlanInput): Projection {
  return {
    argv: [
      // Else the person's own login is read, sent along, and refreshed at each refusal of a Provider.
      ...override('cli_auth_credentials_store', 'ephemeral'),
      ...override('forced_login_method', 'api'),
      ...override('features.enable_request_compression', false),
      ...override('features.unbounded_connection_retries', false),
      ...(codexCatalogPath === null ? [] : override('model_catalog_json', codexCatalogPath)),
    ],
    config: {
      model_provider: 'openai',
      openai_base_url: `${origin(port)}/v1`,
      model: binding.clientModel,
      ...codexEffort(binding.effort),
    },
    key,
  }
}

/** `none` is the client's spelling of off. */
function codexEffort(effort: Effort): Record<string, JsonValue> {
  return effort === 'default' ? {} : { model_reasoning_effort: effort === 'off' ? 'none' : effort }
}

function claudeCli(input: PlanInput): Projection {
  return {
    argv: ['--model', input.binding.clientModel],
    env: {
      ANTHROPIC_BASE_URL: origin(input.port),
      CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR: '3',
      CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST: '1',
      ...claudeModels(input),
    },
    key: input.key,
  }
}

function claudeAdapter(input: PlanInput): Projection {
  return {
    env: {
      ANTHROPIC_BASE_URL: `${origin(input.port)}/r/${input.routeId}`,
      ANTHROPIC_AUTH_TOKEN: PLACEHOLDER,
      ANTHROPIC_MODEL: input.binding.clientModel,
      CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST: '1',
      ...claudeModels(input),
    },
    warnings: ['route_open_to_commands'],
  }
}

function claudeModels({ binding, request }: PlanInput): Record<string, string> {
  if (binding.preset === 'anthropic') {
    return request.inherited['ENABLE_TOOL_SEARCH'] === undefined ? { ENABLE_TOOL_SEARCH: 'true' } : {}
  }
  // Background calls must name a model that this account has.
  return { ANTHROPIC_DEFAULT_HAIKU_MODEL: binding.smallModel ?? binding.clientModel }
}

function builtin({ binding, port, key }: PlanInput): Projection {
  return {
    env: {
      WHEELHOUSE_MODEL_BASE_URL: `${origin(port)}/v1`,
      WHEELHOUSE_MODEL_PROTOCOL: binding.routeProtocol === 'responses' ? 'responses' : 'messages',
      WHEELHOUSE_MODEL_ID: binding.clientModel,
      WHEELHOUSE_MODEL_EFFORT: binding.effort,
      WHEELHOUSE_MODEL_KEY_FD: '3',
    },
    key,
  }
}

function origin(port: number): string {
  return `http://127.0.0.1:${port}`
}

/** One `-c key=value` of Codex, the value in TOML. A JSON string is a TOML basic string. */
function override(key: string, value: string | boolean): readonly string[] {
  return ['-c', `${key}=${JSON.stringify(value)}`]
}
