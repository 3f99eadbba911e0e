import { useMemo } from 'react'
import { useCall } from '../../bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { listRows } from './rows.ts'
import type { ListRow, SessionFilter } from './rows.ts'

/** The rows of the list. Archived sessions are asked for only when they are looked at. */
export function useSessionRows(search: string, filter: SessionFilter): { rows: readonly ListRow[]; loaded: boolean } {
  const live = useTopic('sessions', (state) => state.value)
  const loaded = useTopic('sessions', (state) => state.loaded)
  const archived = useCall('sessions.list', { archived: true, limit: 500 }, { enabled: filter === 'archived' })
  const rows = useMemo(() => {
    if (filter !== 'archived') return listRows(live.values(), { search, filter })
    const all = new Map((archived.data?.sessions ?? []).map((session) => [session.id, session]))
    for (const session of live.values()) all.set(session.id, session)
    return listRows(all.values(), { search, filter })
  }, [live, archived.data, search, filter])
  return { rows, loaded: filter === 'archived' ? archived.data !== undefined : loaded }
}
