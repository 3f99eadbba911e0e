import type { deliveryProcedures } from '../../../shared/bridge/deliveries.ts'
import type { DeliveryView } from '../../../shared/bridge/index.ts'
import type { Places } from '../../deliveries/index.ts'
import type { DeliveryView as Delivery, Runtime } from '../../runtime/index.ts'
import { compact } from '../compact.ts'
import type { HandlersOf } from '../types.ts'
import { titleOf } from '../views.ts'

export interface DeliveryHandlerDeps {
  runtime: Runtime
  places: Places
}

export function deliveryHandlers(deps: DeliveryHandlerDeps): HandlersOf<typeof deliveryProcedures> {
  const { runtime, places } = deps
  return {
    'deliveries.list': ({ limit, ...query }) => {
      const found = runtime.deliveries.list({ ...compact(query), limit: limit + 1 })
      const page = found.slice(0, limit).map((delivery) => deliveryView(deps, delivery))
      return { deliveries: page, next: found.length > limit ? (page.at(-1)?.id ?? null) : null }
    },
    'deliveries.retry': async ({ operationId }) => ({ reopened: await runtime.deliveries.reopen({ operationId }) }),
    'deliveries.targets.list': async () => ({
      targets: await places.views(),
      notificationsUnavailable: places.notificationsUnavailable(),
    }),
    'deliveries.targets.save': async ({ id, target }) => places.view(await places.save(id ?? null, target)),
    'deliveries.targets.delete': async ({ id }) => ({ deleted: await places.delete(id) }),
    'deliveries.targets.test': ({ id }, { signal }) => places.test(id, signal),
  }
}

export function deliveryView({ runtime, places }: DeliveryHandlerDeps, delivery: Delivery): DeliveryView {
  const { assistantEntryId: _entry, ...rest } = delivery
  return {
    ...rest,
    sessionTitle: titleOf(runtime, delivery.sessionId) ?? '',
    targetName: places.all().find(({ id }) => id === delivery.targetId)?.name ?? null,
  }
}
