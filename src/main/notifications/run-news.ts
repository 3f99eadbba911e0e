import type { Bridge } from '../../shared/bridge/client.ts'
import type { SessionView } from '../../shared/bridge/index.ts'
import { desktop } from '../../shared/strings/desktop.ts'
import { isTerminal } from '../../shared/vocabulary.ts'
import type { Announcer } from './announcer.ts'
import type { Place } from './places.ts'
import { readable, shortened, TITLE_CHARS } from './text.ts'
import type { Card } from './types.ts'

/** Tells of a run that ended and of a worker that could not be ended, while nobody looks. */
export function createRunNews(deps: {
  bridge: Bridge
  announcer: Announcer
  isQuiet(): boolean
  redact(text: string): string
  open(place: Place): void
}): Disposable {
  const { bridge, announcer } = deps
  const sessions = new Map<string, { runId: string | null; held: boolean }>()
  const standing = new Map<string, () => void>()

  const say = (session: SessionView, body: string, place: Place): void => {
    if (deps.isQuiet()) return
    const title = shortened(readable(deps.redact(session.title)), TITLE_CHARS)
    const card: Card = { tag: `run:${session.id}`, about: 'news', title, body, buttons: [] }
    standing.set(session.id, announcer.announce({ card, clicked: () => deps.open(place) }))
  }

  const look = (session: SessionView): void => {
    const before = sessions.get(session.id)
    const now = { runId: session.lastRun?.runId ?? null, held: session.state === 'held' }
    sessions.set(session.id, now)
    if (session.activeRun !== null) withdraw(session.id)
    const ended = now.runId === (before?.runId ?? null) ? null : session.lastRun
    const end = ended === null || !isTerminal(ended.state) ? null : desktop.notifications.ended(ended.state)
    if (end !== null) say(session, end, { kind: 'session', sessionId: session.id })
    if (now.held && before?.held !== true) say(session, desktop.notifications.held, { kind: 'health' })
  }

  const withdraw = (sessionId: string): void => {
    standing.get(sessionId)?.()
    standing.delete(sessionId)
  }

  const forget = bridge.subscribe(
    'sessions',
    {},
    {
      event(event) {
        if (event.kind === 'changed') return look(event.session)
        if (event.kind === 'removed') {
          sessions.delete(event.sessionId)
          return withdraw(event.sessionId)
        }
        for (const session of event.sessions) {
          sessions.set(session.id, { runId: session.lastRun?.runId ?? null, held: session.state === 'held' })
        }
      },
    },
  )
  return { [Symbol.dispose]: forget }
}
