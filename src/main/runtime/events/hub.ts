import type { SessionEvent } from '../../../shared/events.ts'
import type { Log } from '../../platform/types.ts'
import type { RuntimeChange } from '../types.ts'

/** Hears of one session's log. `stale`: something was committed elsewhere, the database knows more. */
export interface EventListener {
  events(events: readonly SessionEvent[]): void
  stale(): void
  ownershipLost(): void
  stopped(): void
}

export interface EventHub {
  listen(sessionId: string, listener: EventListener): Disposable
  /** How many listen, of one session or of all. */
  count(sessionId?: string): number
  sessions(): readonly string[]
  publish(sessionId: string, events: readonly SessionEvent[]): void
  stale(sessionId: string): void
  ownershipLost(sessionId: string): void
  stopAll(): void
}

/** Hands committed events to whoever listens in this process. */
export function createEventHub(): EventHub {
  const listeners = new Map<string, Set<EventListener>>()
  const of = (sessionId: string): readonly EventListener[] => [...(listeners.get(sessionId) ?? [])]
  return {
    listen(sessionId, listener) {
      const own = listeners.get(sessionId) ?? new Set()
      listeners.set(sessionId, own.add(listener))
      return {
        [Symbol.dispose]() {
          own.delete(listener)
          if (own.size === 0 && listeners.get(sessionId) === own) listeners.delete(sessionId)
        },
      }
    },
    count: (sessionId) =>
      sessionId === undefined
        ? [...listeners.values()].reduce((sum, own) => sum + own.size, 0)
        : (listeners.get(sessionId)?.size ?? 0),
    sessions: () => [...listeners.keys()],
    publish(sessionId, events) {
      if (events.length > 0) for (const listener of of(sessionId)) listener.events(events)
    },
    stale(sessionId) {
      for (const listener of of(sessionId)) listener.stale()
    },
    ownershipLost(sessionId) {
      for (const listener of of(sessionId)) listener.ownershipLost()
    },
    stopAll() {
      for (const sessionId of listeners.keys()) for (const listener of of(sessionId)) listener.stopped()
    },
  }
}

export interface ChangeBus {
  subscribe(listener: (change: RuntimeChange) => void): Disposable
  tell(change: RuntimeChange): void
}

/** Tells of changes after their commit. A listener that throws does not keep the others from hearing. */
export function createChangeBus(log: Log): ChangeBus {
  const listeners = new Set<(change: RuntimeChange) => void>()
  return {
    subscribe(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    tell(change) {
      for (const listener of listeners) {
        try {
          listener(change)
        } catch (error) {
          log.error('A listener of runtime changes failed.', { error, change: change.kind })
        }
      }
    },
  }
}
