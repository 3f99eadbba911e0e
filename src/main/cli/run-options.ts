import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Bridge } from '../../shared/bridge/client.ts'
import { AppError } from '../../shared/errors.ts'
import { AgentId, Mode } from '../../shared/vocabulary.ts'
import type { RuntimeChoice } from '../../shared/vocabulary.ts'
import { UsageError } from './usage.ts'

const APPROVALS = ['ask', 'once', 'all', 'deny'] as const
export type Approval = (typeof APPROVALS)[number]

/** For `parseArgs`. */
export const PROMPT_OPTIONS = {
  agent: { type: 'string' },
  dir: { type: 'string', default: '.' },
  provider: { type: 'string' },
  model: { type: 'string' },
  mode: { type: 'string', default: 'agent' },
} as const

export interface RunOptions {
  agentId: AgentId
  dir: string
  provider: string | null
  model: string | null
  mode: Exclude<Mode, 'os'>
  sandbox: boolean
  failover: boolean
  approve: Approval
  json: boolean
  prompt: string
}

/** @throws UsageError with what is wrong. */
export function readRunOptions(args: readonly string[]): RunOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: true,
    options: {
      ...PROMPT_OPTIONS,
      sandbox: { type: 'boolean', default: false },
      'no-failover': { type: 'boolean', default: false },
      approve: { type: 'string', default: 'ask' },
      json: { type: 'boolean', default: false },
    },
  })
  const approve = APPROVALS.find((each) => each === values.approve)
  if (approve === undefined) throw new UsageError('--approve takes ask, once, all or deny.')
  const { sandbox, json } = values
  return { ...readPromptOptions(values, positionals), sandbox, failover: !values['no-failover'], approve, json }
}

/** The part that `run` and `schedule add` share. @throws UsageError with what is wrong. */
export function readPromptOptions(
  values: { agent?: string; dir: string; provider?: string; model?: string; mode: string },
  positionals: readonly string[],
): Omit<RunOptions, 'sandbox' | 'failover' | 'approve' | 'json'> {
  const agent = AgentId.safeParse(values.agent)
  if (!agent.success) throw new UsageError('--agent takes builtin, codex, claude, or acp:<id>.')
  const mode = Mode.exclude(['os']).safeParse(values.mode)
  if (!mode.success) throw new UsageError('--mode takes plan, agent or yolo.')
  const [prompt = '', ...others] = positionals
  if (prompt.trim() === '' || others.length > 0) throw new UsageError('Give the prompt as one quoted argument.')
  return {
    agentId: agent.data,
    dir: resolve(values.dir),
    provider: values.provider ?? null,
    model: values.model ?? null,
    mode: mode.data,
    prompt,
  }
}

/** Of a Provider's models, in an error. */
const NAMED_MODELS = 8

/**
 * Null: nothing was asked for, so that the session takes its agent's default.
 * @throws AppError `model_profile_not_found`; `upstream_model_required`: the Provider has several models and no default.
 */
export async function chooseRuntime(
  bridge: Bridge,
  options: Pick<RunOptions, 'provider' | 'model' | 'agentId'>,
): Promise<RuntimeChoice | null> {
  const { provider, model, agentId } = options
  if (provider === null && model === null) return null
  const { connections, defaults, models } = await bridge.call('providers.list', {})
  const own = connections.filter((connection) => connection.client === agentId)
  const wanted = provider?.toLowerCase() ?? null
  const named =
    wanted === null
      ? own.find(({ id, client }) => defaults[client]?.connectionId === id)
      : (own.find((connection) => connection.name.toLowerCase() === wanted || connection.id === wanted) ??
        own.find((connection) => connection.preset === wanted))
  if (named === undefined) {
    const names = own.map((connection) => connection.name).join(', ')
    throw new AppError(
      'model_profile_not_found',
      `This agent has no Provider "${provider ?? 'by default'}". ${names === '' ? 'Add one first.' : `It has: ${names}.`}`,
    )
  }
  const isDefault = defaults[named.client]?.connectionId === named.id
  const known = (models[named.id] ?? []).flatMap(({ id, enabled }) => (enabled ? [id] : []))
  const [only] = known
  if (model === null && named.manualModelId === undefined && !isDefault && known.length > 1) {
    const more = known.length > NAMED_MODELS ? ` and ${known.length - NAMED_MODELS} more` : ''
    throw new AppError(
      'upstream_model_required',
      `Name a model of "${named.name}" with --model. It has: ${known.slice(0, NAMED_MODELS).join(', ')}${more}.`,
    )
  }
  const modelId = model ?? named.manualModelId ?? (isDefault ? null : (only ?? null))
  return { connectionId: named.id, modelId, effort: 'default' }
}
