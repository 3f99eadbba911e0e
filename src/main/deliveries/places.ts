import { AppError } from '../../shared/errors.ts'
import type { Source } from '../../shared/vocabulary.ts'
import { withDeadline } from '../platform/index.ts'
import type { Clock, Ids, Log, SecretRegistry, Settings } from '../platform/types.ts'
import type { ClaimedOperation, DeliveryPort, DeliveryTarget, DeliveryTransport } from '../runtime/index.ts'
import { createFileDrop } from './file-drop.ts'
import { createNotificationDelivery } from './os-notification.ts'
import type { ShowNotification } from './os-notification.ts'
import { createTargets } from './targets.ts'
import type { Targets } from './targets.ts'
import { createWebhook } from './webhook.ts'
import { createWebhookSecrets } from './webhook-secrets.ts'
import type { SecretStore } from './webhook-secrets.ts'

const TEST_MS = 20_000
const TEST_TEXT = 'This is a test. Answers from Wheelhouse will arrive here.'
const NO_NOTIFICATIONS = 'No notification can be shown: this host finds nothing on its desktop that shows them.'

export interface PlacesDeps {
  clock: Clock
  ids: Ids
  log: Log
  settings: Settings
  secrets: SecretRegistry
  store: SecretStore
  /** What the shell of this host can show; null: nothing. */
  notify: () => ShowNotification | null
  titleOf(sessionId: string): string
  /** The places that the session's schedule names. */
  namedBy(sessionId: string): readonly string[]
}

export interface Places extends Omit<Targets, 'endpointOf' | 'idempotencyHeaderOf' | 'folderOf'> {
  /** For the runtime: who carries, and where a run's answer goes. */
  readonly port: DeliveryPort
  notificationsUnavailable(): string | null
  /** Sends a line that says it is a test. @throws AppError `delivery_target_not_found`, `aborted`. */
  test(id: string, signal: AbortSignal): Promise<{ delivered: boolean; failureCode: string | null }>
  stop(): Promise<void>
}

/** Where answers go beside the window: what the person set up, and what carries them there. */
export function createPlaces(deps: PlacesDeps): Places {
  const { clock, ids, settings } = deps
  const log = deps.log.child({ system: 'deliveries' })
  const webhookSecrets = createWebhookSecrets({ store: deps.store, secrets: deps.secrets, log })
  const notificationsUnavailable = (): string | null => (deps.notify() === null ? NO_NOTIFICATIONS : null)
  const targets = createTargets({ ids, settings, secrets: webhookSecrets, notificationsUnavailable })
  const webhook = createWebhook({ clock, ...targets })
  const notification = createNotificationDelivery((shown) => deps.notify()?.(shown) ?? 'unavailable')
  const transports = [webhook, createFileDrop(targets), notification] as const

  function wants(target: ReturnType<Targets['all']>[number], sessionId: string, source: Source): boolean {
    if (!target.enabled) return false
    // A notification that comes hours later, from another host, is of no use.
    if (target.kind === 'os_notification' && notificationsUnavailable() !== null) return false
    if (deps.namedBy(sessionId).includes(target.id)) return true
    return target.runs === 'all' || (target.runs === 'scheduled' && (source === 'cron' || source === 'channel'))
  }

  async function test(id: string, signal: AbortSignal): ReturnType<Places['test']> {
    const { kind, name } = targets.find(id)
    const transport: DeliveryTransport | undefined = transports.find((each) => each.id === kind)
    if (transport === undefined) return { delivered: false, failureCode: 'transport_unknown' }
    try {
      const result = await withDeadline(clock, TEST_MS, signal, (inner) =>
        transport.execute(
          testOperation(ids.next(), { transport: kind, targetId: id, context: { title: name } }),
          inner,
        ),
      )
      return { delivered: result.status === 'delivered', failureCode: result.failureCode ?? null }
    } catch (error) {
      signal.throwIfAborted()
      log.warn('The test of a place did not succeed.', { error, targetId: id })
      return { delivered: false, failureCode: error instanceof AppError ? error.code : 'transport_failed' }
    }
  }

  return {
    all: targets.all,
    views: targets.views,
    view: targets.view,
    find: targets.find,
    save: targets.save,
    delete: targets.delete,
    sweep: targets.sweep,
    port: {
      transports,
      targets: ({ sessionId, source }) =>
        targets
          .all()
          .filter((target) => wants(target, sessionId, source))
          .map(({ kind, id }) => ({
            transport: kind,
            targetId: id,
            context: { title: deps.titleOf(sessionId), sessionId },
          })),
    },
    notificationsUnavailable,
    test,
    async stop() {
      webhookSecrets.dispose()
      await webhook.close()
    },
  }
}

function testOperation(id: string, target: DeliveryTarget): ClaimedOperation {
  return {
    id: `test_${id}`,
    deliveryId: `test_${id}`,
    kind: 'send_text',
    sequence: 1,
    attempt: 1,
    leaseEpoch: 1,
    target,
    idempotencyKey: `test_${id}`,
    payload: TEST_TEXT,
    artifact: null,
    remoteAssetId: '',
    remoteState: {},
  }
}
