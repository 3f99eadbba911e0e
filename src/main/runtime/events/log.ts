import { AppError } from '../../../shared/errors.ts'
import type { SessionEvent } from '../../../shared/events.ts'
import { nextTurn } from '../../platform/index.ts'
import type { Tables } from '../store/index.ts'
import type { EventPage, SubscriptionItem } from '../types.ts'
import type { EventHub } from './hub.ts'

const PAGE_BYTES = 1024 * 1024
const PAGE_EVENTS = 500
const BEHIND_EVENTS = 512
const BEHIND_BYTES = 2 * 1024 * 1024
const MAX_SUBSCRIBERS = 64

export interface EventLog {
  /**
   * One page of a session's log, of at most 1 MiB.
   * @throws AppError `session_not_found`, `event_cursor_ahead`, `event_cursor_expired` (`data`: `{ floorSeq }`).
   */
  read(query: { sessionId: string; afterSeq: number; limit?: number }): EventPage
  /**
   * Every event after `afterSeq`, each once and ascending, then what follows, until the signal aborts or the caller leaves.
   * A caller that falls 512 events or 2 MiB behind gets one `resync` and is served from the database again: what it has not
   * taken is kept nowhere else.
   * @throws AppError as `read`; `too_many_calls`: there are 64 already.
   */
  subscribe(query: { sessionId: string; afterSeq: number }, signal: AbortSignal): AsyncIterable<SubscriptionItem>
}

export function createEventLog({ tables, hub }: { tables: Tables; hub: EventHub }): EventLog {
  function check(sessionId: string, afterSeq: number): { head: number; floor: number } {
    const ends = tables.events.head(sessionId)
    if (ends === null) throw new AppError('session_not_found', 'This session no longer exists.', { detail: sessionId })
    if (afterSeq > ends.head) {
      throw new AppError('event_cursor_ahead', 'The window is ahead of the log. Load the session again.', {
        data: { headSeq: ends.head },
      })
    }
    if (afterSeq < ends.floor) {
      throw new AppError('event_cursor_expired', 'The beginning of this log is gone. Load the session again.', {
        data: { floorSeq: ends.floor },
      })
    }
    return ends
  }

  const page = (sessionId: string, afterSeq: number, limit: number): SessionEvent[] =>
    tables.events.page({ sessionId, afterSeq, limit, maxBytes: PAGE_BYTES })

  return {
    read({ sessionId, afterSeq, limit = PAGE_EVENTS }) {
      const { head, floor } = check(sessionId, afterSeq)
      const events = page(sessionId, afterSeq, Math.min(1_000, Math.max(1, limit)))
      return { events, headSeq: head, floorSeq: floor, hasMore: (events.at(-1)?.seq ?? afterSeq) < head }
    },
    subscribe({ sessionId, afterSeq }, signal) {
      check(sessionId, afterSeq)
      if (hub.count() >= MAX_SUBSCRIBERS) throw new AppError('too_many_calls', 'Too many windows follow sessions.')
      return follow({ sessionId, afterSeq, hub, page }, signal)
    },
  }
}

interface Follow {
  sessionId: string
  afterSeq: number
  hub: EventHub
  page: (sessionId: string, afterSeq: number, limit: number) => SessionEvent[]
}

/**
 * Listens from this call on, until the signal aborts or the caller leaves. Commits and their telling happen in one step of the event loop, so an empty page
 * means that the listener has missed nothing.
 */
function follow(query: Follow, signal: AbortSignal): AsyncIterable<SubscriptionItem> {
  const { sessionId, hub, page } = query
  let cursor = query.afterSeq
  let live = false
  let waiting: SessionEvent[] = []
  let waitingBytes = 0
  let facts: SubscriptionItem[] = []
  let stopped = false
  let wake: () => void = () => undefined

  const listening = hub.listen(sessionId, {
    events(events) {
      if (live) {
        waiting.push(...events)
        waitingBytes += events.reduce((sum, event) => sum + JSON.stringify(event.data).length, 0)
        if (waiting.length >= BEHIND_EVENTS || waitingBytes >= BEHIND_BYTES) {
          fallBack()
          facts.push({ kind: 'resync', fromSeq: cursor + 1 })
        }
      }
      wake()
    },
    stale() {
      fallBack()
      wake()
    },
    ownershipLost() {
      facts.push({ kind: 'ownership_lost' })
      wake()
    },
    stopped() {
      stopped = true
      wake()
    },
  })
  const abort = (): void => {
    listening[Symbol.dispose]()
    wake()
  }
  signal.addEventListener('abort', abort)

  function fallBack(): void {
    live = false
    waiting = []
    waitingBytes = 0
  }

  /** The next events for the subscriber, or none for now. */
  function next(): SessionEvent[] {
    const events = waiting.filter(({ seq }) => seq > cursor)
    waiting = []
    waitingBytes = 0
    // A gap: another process wrote between two of ours.
    if (live && (events[0] === undefined || events[0].seq === cursor + 1)) return events
    live = false
    const read = page(sessionId, cursor, PAGE_EVENTS)
    live = read.length === 0
    return read
  }

  async function* items(): AsyncGenerator<SubscriptionItem> {
    try {
      while (!signal.aborted) {
        const told = facts
        facts = []
        yield* told
        const events = next()
        const last = events.at(-1)
        if (last !== undefined) {
          cursor = last.seq
          yield { kind: 'events', events }
          // Between two pages the event loop gets its turn.
          await nextTurn()
          continue
        }
        if (stopped) {
          yield { kind: 'runtime_stopped' }
          return
        }
        await new Promise<void>((resolve) => {
          wake = resolve
          if (facts.length > 0 || waiting.length > 0 || stopped || signal.aborted || !live) resolve()
        })
      }
    } finally {
      signal.removeEventListener('abort', abort)
      listening[Symbol.dispose]()
    }
  }
  return items()
}
