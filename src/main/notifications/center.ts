import type { Bridge } from '../../shared/bridge/client.ts'
import type { ShowNotification } from '../deliveries/index.ts'
import type { Clock, SecretRegistry, Settings } from '../platform/index.ts'
import { createAnnouncer } from './announcer.ts'
import { createGatewayNews } from './gateway-news.ts'
import { createNotifier } from './notifier.ts'
import type { Onlookers } from './onlookers.ts'
import type { Place } from './places.ts'
import { isQuietTime } from './quiet.ts'
import { createRunNews } from './run-news.ts'
import { BODY_CHARS, readable, shortened, TITLE_CHARS } from './text.ts'
import type { NotificationPort } from './types.ts'

export interface NotificationsDeps {
  clock: Clock
  secrets: SecretRegistry
  settings: Settings
  /** Ended with the notifications. */
  bridge: Bridge
  port: NotificationPort
  onlookers: Onlookers
  /** Leads the person to a place of the interface; without one, to the interface. */
  open(place?: Place): void
}

export interface Notifications extends Disposable {
  /** An answer on its way to the person; null while nothing shows it. */
  readonly show: ShowNotification | null
}

/** All that the host tells the person beside its windows: what waits for them, what ended, what drifted, answers. */
export function openNotifications(deps: NotificationsDeps): Notifications {
  const { clock, bridge, port, onlookers, open } = deps
  const { redact } = deps.secrets
  const announcer = createAnnouncer({ clock, port, openSummary: () => open({ kind: 'approvals', decisionId: null }) })
  const isQuiet = (): boolean => isQuietTime(deps.settings.values(), clock.nowMs())
  const parts = [
    createNotifier({
      clock,
      bridge,
      announcer,
      isQuiet: ({ sessionId, decisionId }) =>
        isQuiet() ||
        onlookers.shows([
          { kind: 'session', sessionId },
          { kind: 'approvals', decisionId },
          { kind: 'approvals', decisionId: null },
        ]),
      redact,
      open: (decisionId) => open({ kind: 'approvals', decisionId }),
    }),
    createRunNews({ bridge, announcer, isQuiet: () => isQuiet() || onlookers.anyFocused(), redact, open }),
    createGatewayNews({
      clock,
      bridge,
      announcer,
      isQuiet: () => isQuiet() || onlookers.shows([{ kind: 'gateway' }]),
      open,
    }),
  ]

  const show: ShowNotification = ({ tag, title, body, sessionId }) => {
    if (isQuiet()) return 'quiet'
    announcer.announce({
      card: {
        tag,
        about: 'news',
        title: shortened(readable(redact(title)), TITLE_CHARS),
        body: shortened(readable(redact(body)), BODY_CHARS),
        buttons: [],
      },
      clicked: () => open(sessionId === null ? undefined : { kind: 'session', sessionId }),
    })
    return 'shown'
  }

  return {
    get show() {
      return port.isAvailable() ? show : null
    },
    [Symbol.dispose]() {
      for (const part of parts) part[Symbol.dispose]()
      announcer.stop()
      port.stop()
      bridge.close()
    },
  }
}
