import { desktop } from '../../shared/strings/desktop.ts'
import type { Clock } from '../platform/index.ts'

/** One notification of the system's. */
export interface Card {
  title: string
  body: string
  buttons: readonly string[]
}

export interface CardEvents {
  clicked(): void
  /** By its place in `buttons`. */
  pressed(button: number): void
  /** The person or the system put it away. Not told after `close`. */
  dismissed(): void
}

/** The system's notifications. `show` answers the function that takes the card away again. */
export interface NotificationPort {
  show(card: Card, events: CardEvents): () => void
}

export interface Announcement extends Partial<CardEvents> {
  card: Card
  /** How it counts in a summary. */
  about: 'waiting' | 'news'
}

export interface Announcer {
  /** Shown now, or as part of a summary when too many were. Answers the function that withdraws it. */
  announce(announcement: Announcement): () => void
  stop(): void
}

export const MAX_PER_WINDOW = 6
export const WINDOW_MS = 60_000

/** Never more than six cards in any minute: what comes beyond becomes one card that counts the rest. */
export function createAnnouncer(deps: { clock: Clock; port: NotificationPort; openSummary(): void }): Announcer {
  const { clock, port } = deps
  const close = new Map<Announcement, () => void>()
  const rest = new Set<Announcement>()
  const summed = new Set<Announcement>()
  let closeSummary: (() => void) | null = null
  let shownAtMs: number[] = []
  let timer: Disposable | null = null

  const hasRoom = (): boolean => {
    const sinceMs = clock.monotonicMs() - WINDOW_MS
    shownAtMs = shownAtMs.filter((atMs) => atMs > sinceMs)
    return shownAtMs.length < MAX_PER_WINDOW
  }

  const put = (card: Card, events: Partial<CardEvents>): (() => void) => {
    shownAtMs.push(clock.monotonicMs())
    return port.show(card, {
      clicked: () => events.clicked?.(),
      pressed: (button) => events.pressed?.(button),
      dismissed: () => events.dismissed?.(),
    })
  }

  const dropSummary = (): void => {
    closeSummary?.()
    closeSummary = null
    summed.clear()
  }

  const sumUp = (): void => {
    timer = null
    if (rest.size === 0) return
    if (!hasRoom()) return waitForRoom()
    const [first] = rest
    if (first !== undefined && rest.size === 1) {
      rest.clear()
      close.set(first, put(first.card, first))
      return
    }
    const held = [...rest]
    dropSummary()
    rest.clear()
    for (const each of held) summed.add(each)
    closeSummary = put(summaryCard(held), { clicked: deps.openSummary })
  }

  const waitForRoom = (): void => {
    const freeAtMs = (shownAtMs[0] ?? clock.monotonicMs()) + WINDOW_MS
    timer ??= clock.after(Math.max(1, Math.ceil(freeAtMs - clock.monotonicMs())), sumUp)
  }

  return {
    announce(announcement) {
      if (rest.size === 0 && hasRoom()) close.set(announcement, put(announcement.card, announcement))
      else {
        rest.add(announcement)
        waitForRoom()
      }
      return () => {
        close.get(announcement)?.()
        close.delete(announcement)
        rest.delete(announcement)
        if (summed.delete(announcement) && summed.size === 0) dropSummary()
      }
    },
    stop() {
      timer?.[Symbol.dispose]()
      for (const each of close.values()) each()
      close.clear()
      rest.clear()
      dropSummary()
    },
  }
}

function summaryCard(held: readonly Announcement[]): Card {
  const waiting = held.filter(({ about }) => about === 'waiting').length
  const news = held.length - waiting
  const lines = [
    waiting === 0 ? '' : desktop.notifications.moreWaiting(waiting),
    news === 0 ? '' : desktop.notifications.moreNews(news),
  ]
  return { title: desktop.product, body: lines.filter((line) => line !== '').join(', '), buttons: [] }
}
