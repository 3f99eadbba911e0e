import { desktop } from '../../shared/strings/desktop.ts'
import type { Clock } from '../platform/index.ts'
import type { Card, CardEvents, NotificationPort } from './types.ts'

export interface Announcement extends Partial<CardEvents> {
  card: Card
}

export interface Announcer {
  /**
   * Shown now, or as part of a summary when too many were, in the place of an earlier one with its tag. Answers the function
   * that withdraws it, which does nothing once it was replaced.
   */
  announce(announcement: Announcement): () => void
  stop(): void
}

export const MAX_PER_WINDOW = 6
export const WINDOW_MS = 60_000

/** Never more than six cards in any minute: what comes beyond becomes one card that counts the rest. */
export function createAnnouncer(deps: { clock: Clock; port: NotificationPort; openSummary(): void }): Announcer {
  const { clock, port } = deps
  /** Of those that stand by themselves. */
  const close = new Map<Announcement, () => void>()
  const rest = new Set<Announcement>()
  const summed = new Set<Announcement>()
  const byTag = new Map<string, Announcement>()
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

  const putOwn = (announcement: Announcement): void => {
    const dismissed = (): void => {
      forget(announcement)
      announcement.dismissed?.()
    }
    close.set(announcement, put(announcement.card, { ...announcement, dismissed }))
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
      putOwn(first)
      return
    }
    const held = [...rest]
    rest.clear()
    summed.clear()
    for (const each of held) summed.add(each)
    closeSummary = put(summaryCard(held), { clicked: deps.openSummary })
  }

  const waitForRoom = (): void => {
    const freeAtMs = (shownAtMs[0] ?? clock.monotonicMs()) + WINDOW_MS
    timer ??= clock.after(Math.max(1, Math.ceil(freeAtMs - clock.monotonicMs())), sumUp)
  }

  /** Its card, where it has one of its own, is the caller's to close. */
  const forget = (announcement: Announcement): void => {
    const { tag } = announcement.card
    if (byTag.get(tag) === announcement) byTag.delete(tag)
    close.delete(announcement)
    rest.delete(announcement)
    if (summed.delete(announcement) && summed.size === 0) dropSummary()
  }

  const withdraw = (announcement: Announcement): void => {
    close.get(announcement)?.()
    forget(announcement)
  }

  return {
    announce(announcement) {
      const { tag } = announcement.card
      const earlier = byTag.get(tag)
      if (earlier !== undefined) rest.delete(earlier)
      const now = rest.size === 0 && hasRoom()
      if (earlier !== undefined) {
        if (now) forget(earlier)
        else withdraw(earlier)
      }
      byTag.set(tag, announcement)
      if (now) putOwn(announcement)
      else {
        rest.add(announcement)
        waitForRoom()
      }
      return () => withdraw(announcement)
    },
    stop() {
      timer?.[Symbol.dispose]()
      for (const each of close.values()) each()
      close.clear()
      rest.clear()
      byTag.clear()
      dropSummary()
    },
  }
}

function summaryCard(held: readonly Announcement[]): Card {
  const waiting = held.filter(({ card }) => card.about === 'waiting').length
  const news = held.length - waiting
  const lines = [
    waiting === 0 ? '' : desktop.notifications.moreWaiting(waiting),
    news === 0 ? '' : desktop.notifications.moreNews(news),
  ]
  return {
    tag: 'summary',
    about: waiting > 0 ? 'waiting' : 'news',
    title: desktop.product,
    body: lines.filter((line) => line !== '').join(', '),
    buttons: [],
  }
}
