import { GatewayView, RequestView, TakeoverPlan } from '../../../shared/bridge/index.ts'
import type { gatewayProcedures } from '../../../shared/bridge/gateway.ts'
import { AppError } from '../../../shared/errors.ts'
import type { GatewayStatus, Inspected, Providers, TakeoverChange } from '../../providers/index.ts'
import type { CallContext, HandlersOf } from '../types.ts'

/** In the contract's own shape: a field that the contract does not name stays behind. */
export const gatewayView = (status: GatewayStatus): GatewayView => GatewayView.parse(status)

export function gatewayHandlers({ providers }: { providers: Providers }): HandlersOf<typeof gatewayProcedures> {
  const now = async (): Promise<GatewayView> => gatewayView(await providers.gateway().status())
  const changed = async ({ outcome, status }: TakeoverChange) => {
    const gateway = await now()
    // What the change itself has to say stands in its own status.
    const takeovers = gateway.takeovers.map((each) =>
      each.client === status.client ? { ...each, warnings: [...status.warnings] } : each,
    )
    return { gateway: { ...gateway, takeovers }, durable: outcome.durable }
  }
  return {
    'gateway.status': now,
    'gateway.setUpstream': async ({ client, connectionId }) => {
      const { durable } = await providers.gateway().setUpstream(client, connectionId)
      return { gateway: await now(), durable }
    },
    'gateway.plan': async ({ client, ...wanted }, context) => {
      demandCommandLine(wanted.configPath, context)
      return TakeoverPlan.parse(await providers.gateway().takeover(client).plan(wanted))
    },
    'gateway.enable': async ({ client, ...request }, context) => {
      demandCommandLine(request.configPath, context)
      return changed(await providers.gateway().takeover(client).enable(request))
    },
    'gateway.disable': async ({ client }) => changed(await providers.gateway().takeover(client).disable()),
    'gateway.repair': async ({ client }) => changed(await providers.gateway().takeover(client).repair()),
    'gateway.restoreBackup': async ({ client }) => changed(await providers.gateway().takeover(client).restoreBackup()),
    'gateway.rotateKey': async () => {
      const { durable } = await providers.gateway().rotateKey()
      return { gateway: await now(), durable }
    },
    'gateway.requests': ({ limit }) => ({ requests: providers.requests().slice(0, limit).map(requestView) }),
  }
}

/** A page names no file of this machine. */
function demandCommandLine(configPath: string | undefined, { connection }: CallContext): void {
  if (configPath === undefined || connection.kind === 'cli') return
  throw new AppError('input_invalid', 'Another config file can be named on the command line alone.')
}

export function requestView(request: Inspected): RequestView {
  const { startedAtMs, sessionId, usage, ...rest } = request
  return RequestView.parse({
    ...rest,
    at: startedAtMs,
    sessionId: sessionId === '' ? null : sessionId,
    tokens: usage,
  })
}
