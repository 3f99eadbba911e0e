import type { SessionView } from '../../../shared/bridge/index.ts'
import { useBridgeStatus } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'

export interface Blocked {
  kind: keyof typeof strings.session.why
  text: string
}

/** Why nothing can be sent now; null: it can. Typing is always possible. */
export function useBlocked(session: SessionView): Blocked | null {
  const status = useBridgeStatus()
  const kind = reasonOf(session, status.kind)
  return kind === null ? null : { kind, text: strings.session.why[kind] }
}

function reasonOf(session: SessionView, status: string): Blocked['kind'] | null {
  if (status !== 'open') return 'lost'
  if (session.archivedAt !== null) return 'archived'
  if (session.state === 'held' || session.state === 'recovering') return session.state
  return null
}
