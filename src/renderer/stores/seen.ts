import { useEffect } from 'react'
import { z } from 'zod'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { SessionView } from '../../shared/bridge/index.ts'

/** What is kept in this browser: until when each session was looked at, and since when that is noted at all. */
const KEY = 'wheelhouse.seen'
const MAX_SESSIONS = 1_000
const Seen = z.object({ sinceMs: z.number(), sessions: z.record(z.string(), z.number()) })
type Seen = z.infer<typeof Seen>

const seen = createStore<Seen>(() => read() ?? { sinceMs: Date.now(), sessions: {} })

/** A run of it ended, and nobody looked at it here since. */
export function useUnread(session: Pick<SessionView, 'id' | 'lastRun'>): boolean {
  const finishedAt = session.lastRun?.finishedAt ?? 0
  return useStore(seen, ({ sinceMs, sessions }) => finishedAt > (sessions[session.id] ?? sinceMs))
}

/** Notes that the session is looked at, for as long as it is shown in a window that has the focus. */
export function useSeen({ id, lastRun }: Pick<SessionView, 'id' | 'lastRun'>): void {
  const finishedAt = lastRun?.finishedAt ?? 0
  useEffect(() => {
    const note = (): void => {
      const { sinceMs, sessions } = seen.getState()
      if (document.hasFocus() && finishedAt > (sessions[id] ?? sinceMs)) keep(id, finishedAt)
    }
    note()
    window.addEventListener('focus', note)
    return () => window.removeEventListener('focus', note)
  }, [id, finishedAt])
}

function keep(id: string, atMs: number): void {
  const { sinceMs, sessions } = seen.getState()
  const newest = Object.entries({ ...sessions, [id]: atMs })
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_SESSIONS)
  const next = { sinceMs, sessions: Object.fromEntries(newest) }
  seen.setState(next, true)
  write(next)
}

function read(): Seen | null {
  try {
    const parsed = Seen.safeParse(JSON.parse(window.localStorage.getItem(KEY) ?? 'null'))
    if (parsed.success) return parsed.data
  } catch {
    // Storage that is switched off, or was written by something else: what is noted lasts as long as the page.
  }
  write({ sinceMs: Date.now(), sessions: {} })
  return null
}

function write(value: Seen): void {
  try {
    window.localStorage.setItem(KEY, JSON.stringify(value))
  } catch {
    // As above.
  }
}
