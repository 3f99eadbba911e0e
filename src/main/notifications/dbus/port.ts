import { withDeadline } from '../../platform/index.ts'
import type { Clock, Log } from '../../platform/index.ts'
import type { Card, CardEvents, NotificationPort } from '../types.ts'
import type { BusAddress } from './address.ts'
import {
  capabilitiesCall,
  closeCall,
  MATCH_RULES,
  notifyCall,
  parseCapabilities,
  parseId,
  parseSignal,
  SERVICE,
} from './protocol.ts'
import type { Capability } from './protocol.ts'
import { busCall, openSessionBus } from './session-bus.ts'
import type { BusSignal, SessionBus } from './session-bus.ts'

export interface DbusNotificationsDeps {
  clock: Clock
  log: Log
  addresses: readonly BusAddress[]
  /** Shows what the bus cannot. */
  fallback?: NotificationPort
}

/** So long the bus and the service may take before others are asked. */
export const ANSWER_MS = 2_000
const RETRY_MS = { first: 1_000, most: 60_000 } as const

/** `pending`: being found out. What comes meanwhile is held. */
type State = 'pending' | 'ready' | 'unavailable'

interface Entry {
  card: Card
  events: CardEvents
  /** Sent to the service that serves now; its number follows. */
  sent: boolean
  id: number | null
  /** Closed, replaced or put away: nothing more is told of it. */
  gone: boolean
  closeFallback: (() => void) | null
}

/**
 * The desktop's notifications over `org.freedesktop.Notifications`. What waits for the person outlives the service: it is
 * shown again by the next one. Without any, news is dropped and what waits is held.
 */
export function createDbusNotifications(deps: DbusNotificationsDeps): NotificationPort {
  const { clock, fallback } = deps
  const log = deps.log.child({ system: 'notifications' })
  const stopping = new AbortController()
  const standing = new Map<string, Entry>()
  const byId = new Map<number, Entry>()
  let state: State = 'pending'
  let wasReady = false
  let bus: SessionBus | null = null
  let service: { owner: string; can: Capability | null } | null = null
  let isStarting = false
  let said: string | null = null
  let patience: Disposable | null = null
  let retry: Disposable | null = null
  let retryMs: number = RETRY_MS.first

  const connect = async (): Promise<void> => {
    try {
      const opened = await withDeadline(clock, ANSWER_MS, stopping.signal, (signal) =>
        openSessionBus(deps.addresses, signal),
      )
      if (stopping.signal.aborted) return opened.close()
      bus = opened
    } catch (error) {
      if (stopping.signal.aborted) return
      retryLater()
      return unavailable('no session bus answers', { error })
    }
    retryMs = RETRY_MS.first
    bus.onSignal(onSignal)
    bus.onClose(onBusLost)
    for (const rule of MATCH_RULES) bus.call(busCall('AddMatch', 's', [rule]), () => {})
    bus.call(busCall('GetNameOwner', 's', [SERVICE]), (reply) => {
      const owner = reply.ok ? reply.values[0] : null
      if (typeof owner === 'string') onOwner(owner)
      else startService()
    })
    expectAnswer()
  }

  const retryLater = (): void => {
    retry = clock.after(retryMs, () => void connect())
    retryMs = Math.min(retryMs * 2, RETRY_MS.most)
  }

  const onBusLost = (): void => {
    bus = null
    isStarting = false
    if (stopping.signal.aborted) return
    onOwner(null)
    retryLater()
    unavailable('the session bus went away')
  }

  /** Some desktops start theirs with the first notification. */
  const startService = (): void => {
    if (bus === null || service !== null || isStarting) return
    isStarting = true
    state = 'pending'
    bus.call(busCall('StartServiceByName', 'su', [SERVICE, 0]), (reply) => {
      isStarting = false
      if (!reply.ok) unavailable('nothing on the session bus shows notifications', { error: reply.error })
    })
    expectAnswer()
  }

  const onOwner = (owner: string | null): void => {
    if (owner === (service?.owner ?? null)) return
    service = owner === null ? null : { owner, can: null }
    byId.clear()
    for (const entry of standing.values()) {
      if (!entry.sent) continue
      entry.sent = false
      entry.id = null
      if (entry.card.about === 'news') putAway(entry)
    }
    state = 'pending'
    answered()
    if (owner !== null) return askCapabilities(owner)
    // A successor that comes by itself, such as another program of the person's, goes first.
    patience = clock.after(ANSWER_MS, () => {
      patience = null
      startService()
    })
  }

  const askCapabilities = (owner: string): void => {
    bus?.call(capabilitiesCall(owner), (reply) => {
      if (service?.owner !== owner) return
      const can = reply.ok ? parseCapabilities(reply.values) : null
      if (can === null) return unavailable('what shows notifications does not say what it can')
      service.can = can
      ready()
    })
    expectAnswer()
  }

  const expectAnswer = (): void => {
    patience ??= clock.after(ANSWER_MS, () => {
      patience = null
      unavailable('what shows notifications does not answer')
    })
  }

  const answered = (): void => {
    patience?.[Symbol.dispose]()
    patience = null
  }

  const ready = (): void => {
    answered()
    state = 'ready'
    wasReady = true
    said = null
    for (const entry of standing.values()) if (!entry.sent && entry.closeFallback === null) send(entry, 0)
  }

  const unavailable = (why: string, fields: Record<string, unknown> = {}): void => {
    answered()
    if (said !== why) log.info(`${why}: no notification is shown over it until that changes`, fields)
    said = why
    state = 'unavailable'
    for (const entry of standing.values()) if (!entry.sent && entry.closeFallback === null) doWithout(entry)
  }

  const doWithout = (entry: Entry): void => {
    const events = { ...entry.events, dismissed: () => putAway(entry) }
    if (fallback?.isAvailable() === true) entry.closeFallback = fallback.show(entry.card, events)
    // Not before `show` has answered.
    else if (entry.card.about === 'news') queueMicrotask(() => putAway(entry))
  }

  const send = (entry: Entry, replaces: number): void => {
    if (bus === null || service === null || service.can === null) return
    const { owner, can } = service
    entry.sent = true
    bus.call(notifyCall(owner, entry.card, can, replaces), (reply) => {
      if (service?.owner !== owner) return
      const id = reply.ok ? parseId(reply.values) : null
      answered()
      if (id === null) {
        log.warn('a notification was refused', reply.ok ? {} : { error: reply.error })
        if (replaces !== 0) closeById(replaces)
        putAway(entry)
      } else if (entry.gone) closeById(id)
      else own(entry, id)
      if (state !== 'ready') ready()
    })
    expectAnswer()
  }

  const own = (entry: Entry, id: number): void => {
    const other = byId.get(id)
    if (other !== undefined) other.id = null
    entry.id = id
    byId.set(id, entry)
  }

  const closeById = (id: number): void => {
    if (service !== null) bus?.call(closeCall(service.owner, id), () => {})
  }

  const onSignal = (received: BusSignal): void => {
    const signal = parseSignal(received, service?.owner ?? null)
    if (signal === null) return
    if (signal.kind === 'owner') return onOwner(signal.owner)
    const entry = byId.get(signal.id)
    if (entry === undefined) return
    if (signal.kind === 'clicked') entry.events.clicked()
    else if (signal.kind === 'closed') putAway(entry)
    else if (signal.button < entry.card.buttons.length) entry.events.pressed(signal.button)
  }

  const putAway = (entry: Entry): void => {
    if (entry.gone) return
    drop(entry)
    entry.events.dismissed()
  }

  const drop = (entry: Entry): void => {
    entry.gone = true
    if (standing.get(entry.card.tag) === entry) standing.delete(entry.card.tag)
    if (entry.id !== null && byId.get(entry.id) === entry) byId.delete(entry.id)
  }

  const close = (entry: Entry): void => {
    if (entry.gone) return
    drop(entry)
    entry.closeFallback?.()
    if (entry.id !== null) closeById(entry.id)
  }

  void connect()

  return {
    isAvailable: () => state === 'ready' || (state === 'pending' && wasReady) || fallback?.isAvailable() === true,
    show(card, events) {
      const earlier = standing.get(card.tag)
      const entry: Entry = { card, events, sent: false, id: null, gone: false, closeFallback: null }
      const replaces = state === 'ready' ? (earlier?.id ?? 0) : 0
      if (earlier !== undefined) {
        if (replaces === 0) close(earlier)
        else drop(earlier)
      }
      standing.set(card.tag, entry)
      // Perhaps it can be started by now.
      if (state === 'unavailable') startService()
      if (state === 'ready') send(entry, replaces)
      else if (state === 'unavailable') doWithout(entry)
      return () => close(entry)
    },
    stop() {
      for (const entry of standing.values()) close(entry)
      stopping.abort()
      retry?.[Symbol.dispose]()
      answered()
      bus?.close()
      bus = null
      fallback?.stop()
    },
  }
}
