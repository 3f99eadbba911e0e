import { useMemo } from 'react'
import type { SessionView } from '../../../shared/bridge/index.ts'
import type { AgentId } from '../../../shared/vocabulary.ts'
import type { AppError } from '../../../shared/errors.ts'
import { useCall } from '../../bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { listRows } from './rows.ts'
import type { ListRow, SessionFilter } from './rows.ts'
import { useTranscriptSearch } from './useTranscriptSearch.ts'

export interface SessionRows {
  rows: readonly ListRow[]
  loaded: boolean
  /** Whose sessions there are. */
  agents: readonly AgentId[]
  searching: boolean
  searchError: AppError | null
  more: (() => void) | null
}

/** The rows of the list. Archived sessions are asked for only when they are looked at. */
export function useSessionRows(search: string, filter: SessionFilter): SessionRows {
  const live = useTopic('sessions', (state) => state.value)
  const loaded = useTopic('sessions', (state) => state.loaded)
  const archived = useCall('sessions.list', { archived: true, limit: 500 }, { enabled: filter === 'archived' })
  const { sessions: titled, hits, searching, error, more } = useTranscriptSearch(search)
  const hasMore = more !== null
  const rows = useMemo(() => {
    const found = { hits, more: hasMore }
    const others = filter === 'archived' ? (archived.data?.sessions ?? []) : titled
    if (others.length === 0) return listRows(live.values(), { search, filter }, found)
    const all = new Map<string, SessionView>(others.map((session) => [session.id, session]))
    // What the topic says is newer.
    for (const session of live.values()) all.set(session.id, session)
    return listRows(all.values(), { search, filter }, found)
  }, [live, archived.data, titled, hits, hasMore, search, filter])
  const agents = useMemo(() => [...new Set([...live.values()].map(({ agentId }) => agentId))].sort(), [live])
  return {
    rows,
    loaded: filter === 'archived' ? archived.data !== undefined : loaded,
    agents,
    searching,
    searchError: error,
    more,
  }
}
