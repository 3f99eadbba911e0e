import type { SessionView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import type { MarkState } from '../../ui/index.ts'

/** The session's state as a shape and a word. An idle one says how its last run ended. */
export function markOf(session: SessionView): { state: MarkState; label: string } {
  const { states } = strings.sessions
  if (session.state !== 'idle') return { state: session.state, label: states[session.state] }
  switch (session.lastRun?.state) {
    case 'completed':
      return { state: 'completed', label: states.completed }
    case 'cancelled':
      return { state: 'idle', label: states.cancelled }
    case 'incomplete':
      return { state: 'failed', label: states.incomplete }
    default:
      return { state: 'idle', label: states.idle }
  }
}

export function titleOf(session: Pick<SessionView, 'title'>): string {
  return session.title === '' ? strings.sessions.untitled : session.title
}
