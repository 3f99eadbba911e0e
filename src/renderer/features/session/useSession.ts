import type { SessionView } from '../../../shared/bridge/index.ts'
import { useCall } from '../../bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'

export type FoundSession = { kind: 'loading' } | { kind: 'gone' } | { kind: 'found'; session: SessionView }

/** The session as the topic tells it; one that the list is too long for, or that was archived, is asked for. */
export function useSession(sessionId: string): FoundSession {
  const loaded = useTopic('sessions', (state) => state.loaded)
  const listed = useTopic('sessions', (state) => state.value.get(sessionId) ?? null)
  const asked = useCall('sessions.get', { sessionId }, { enabled: loaded && listed === null })
  if (listed !== null) return { kind: 'found', session: listed }
  if (asked.data !== undefined && !asked.isError) return { kind: 'found', session: asked.data }
  return asked.isError ? { kind: 'gone' } : { kind: 'loading' }
}
