import { parseArgs } from 'node:util'
import type { Bridge } from '../../shared/bridge/client.ts'
import type { CatalogView, GatewayClient, GatewayView, TakeoverPlan, TakeoverView } from '../../shared/bridge/index.ts'
import { AppError } from '../../shared/errors.ts'
import { takeover as said } from '../../shared/strings/takeover.ts'
import { EXIT } from './exit-codes.ts'
import type { Command } from './index.ts'
import { inLine, printJson, say } from './print.ts'
import { UsageError } from './usage.ts'

const ACTIONS = ['status', 'plan', 'enable', 'disable', 'repair', 'restore', 'rotate-key'] as const
type Action = (typeof ACTIONS)[number]
/** They need no client: they are about both. */
const OF_BOTH: ReadonlySet<Action> = new Set(['status', 'rotate-key'])
const CLIENTS: readonly GatewayClient[] = ['codex', 'claude']
const KINDS = ['base_url', 'provider_table'] as const

interface Options {
  clients: readonly GatewayClient[]
  config: string | undefined
  kind: (typeof KINDS)[number] | undefined
  keepLogin: boolean | undefined
  json: boolean
}

/** Shows, writes and takes back what the agents' own config files say of the gateway. */
export const takeover: Command = (args) => {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      client: { type: 'string' },
      config: { type: 'string' },
      as: { type: 'string' },
      'keep-login': { type: 'boolean' },
      json: { type: 'boolean' },
    },
    allowPositionals: true,
    allowNegative: true,
    strict: true,
  })
  const action = ACTIONS.find((each) => each === positionals[0])
  if (action === undefined || positionals.length > 1)
    throw new UsageError(`takeover takes one of: ${ACTIONS.join(', ')}.`)
  const client = CLIENTS.find((each) => each === values.client)
  if (values.client !== undefined && client === undefined) throw new UsageError('--client is codex or claude.')
  if (client === undefined && !OF_BOTH.has(action))
    throw new UsageError(`takeover ${action} needs --client codex or claude.`)
  const kind = KINDS.find((each) => each === values.as)
  if (values.as !== undefined && kind === undefined) throw new UsageError('--as is base_url or provider_table.')
  const options: Options = {
    clients: client === undefined ? CLIENTS : [client],
    config: values.config,
    kind,
    keepLogin: values['keep-login'],
    json: values.json === true,
  }
  return async ({ bridge, shared }) => {
    if (action === 'enable' && !shared) {
      throw new AppError(
        'host_unreachable',
        'Takeover lasts as long as Wheelhouse runs. Start it first: wheelhouse serve, or the app.',
        { retryable: false },
      )
    }
    const result = await act(bridge, action, options)
    if (options.json) printJson(result.json)
    else say(result.text)
    return EXIT.ok
  }
}

async function act(bridge: Bridge, action: Action, options: Options): Promise<{ json: unknown; text: string }> {
  const connections = await listConnections(bridge)
  const statusText = (gateway: GatewayView): string => statusOf(gateway, options.clients, connections)
  const [client = 'codex'] = options.clients
  const more = {
    ...(options.config === undefined ? {} : { configPath: options.config }),
    ...(options.kind === undefined ? {} : { kind: options.kind }),
    ...(options.keepLogin === undefined ? {} : { keepLogin: options.keepLogin }),
  }
  if (action === 'plan') {
    const plan = await bridge.call('gateway.plan', { client, ...more })
    return { json: plan, text: planText(plan) }
  }
  if (action === 'enable') {
    const plan = await bridge.call('gateway.plan', { client, ...more })
    const { gateway, durable } = await bridge.call('gateway.enable', { client, digest: plan.digest, ...more })
    return { json: { plan, gateway, durable }, text: planText(plan) + statusText(gateway) }
  }
  if (action === 'status') {
    const gateway = await bridge.call('gateway.status', {})
    return { json: gateway, text: statusText(gateway) }
  }
  if (action === 'rotate-key') {
    const { gateway, durable } = await bridge.call('gateway.rotateKey', {})
    return { json: { gateway, durable }, text: `the gateway has a new key\n${statusText(gateway)}` }
  }
  const procedure = { disable: 'gateway.disable', repair: 'gateway.repair', restore: 'gateway.restoreBackup' } as const
  const { gateway, durable } = await bridge.call(procedure[action], { client })
  return { json: { gateway, durable }, text: statusText(gateway) }
}

/** Null: they cannot be read. A config file is given back all the same. */
async function listConnections(bridge: Bridge): Promise<CatalogView['connections'] | null> {
  try {
    return (await bridge.call('providers.list', {})).connections
  } catch (error) {
    if (error instanceof AppError && error.code === 'model_profiles_unavailable') return null
    throw error
  }
}

function planText(plan: TakeoverPlan): string {
  const hunks = plan.hunks.map(({ line, before, after }) =>
    [`@@ line ${line} @@`, ...before.map((each) => `-${each}`), ...after.map((each) => `+${each}`)].join('\n'),
  )
  const warnings = plan.warnings.map((warning) => `warning: ${said.warning(warning)}`)
  return `${[plan.path, ...hunks, ...warnings].join('\n')}\n`
}

function statusOf(
  gateway: GatewayView,
  clients: readonly GatewayClient[],
  connections: CatalogView['connections'] | null,
): string {
  const head = gateway.listening ? `gateway: ${gateway.address}` : `gateway: not listening${reason(gateway.code)}`
  const lines = gateway.takeovers
    .filter(({ client }) => clients.includes(client))
    .flatMap((view) => [takeoverLine(view), ...servedBy(gateway, view, connections)])
  return `${[head, ...lines].join('\n')}\n`
}

/** The gateway refuses what it has no account for, and the client's own way to its Provider is gone. */
function servedBy(
  { upstreams }: GatewayView,
  { client, enabled }: TakeoverView,
  connections: CatalogView['connections'] | null,
): string[] {
  if (!enabled || connections === null) return []
  const name = connections.find(({ id }) => id === upstreams[client])?.name
  return name === undefined
    ? ['  No Provider is selected for it, so its requests are refused. Pick one in Wheelhouse, Gateway.']
    : [`  requests go to ${inLine(name)}`]
}

function takeoverLine({ client, state, detail, configPath, warnings }: TakeoverView): string {
  const lines = [
    `${client}: ${state}  ${configPath}`,
    ...(detail === null ? [] : [`  ${said.detail(detail)}`]),
    ...warnings.map((each) => `  warning: ${said.warning(each)}`),
  ]
  return lines.join('\n')
}

const reason = (text: string | null): string => (text === null ? '' : ` (${text})`)
