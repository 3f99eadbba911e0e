import type { SearchHit, SessionView } from '../../../shared/bridge/index.ts'
import type { AgentId } from '../../../shared/vocabulary.ts'
import { baseName } from '../../text/index.ts'
import { titleOf } from './state.ts'

export type SessionFilter = 'open' | 'waiting' | 'running' | 'failed' | 'held' | 'archived' | `agent:${AgentId}`

export type ListRow =
  | { kind: 'folder'; key: string; name: string; path: string; count: number }
  | { kind: 'session'; key: string; session: SessionView }
  | { kind: 'heading'; key: string }
  | { kind: 'hit'; key: string; hit: SearchHit }
  | { kind: 'more'; key: string }

/** How high a row is, in CSS pixels. */
export const ROW_PX: Readonly<Record<ListRow['kind'], number>> = {
  folder: 28,
  session: 28,
  heading: 32,
  hit: 46,
  more: 34,
}

export interface Found {
  hits: readonly SearchHit[]
  more: boolean
}

/**
 * Sessions that fit, by project folder. Newest first: the folders by their newest session, the sessions in each. Below them
 * what was said with the words in it.
 */
export function listRows(
  sessions: Iterable<SessionView>,
  { search, filter }: { search: string; filter: SessionFilter },
  found: Found = { hits: [], more: false },
): ListRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const byFolder = new Map<string, SessionView[]>()
  const fitting = new Set<string>()
  for (const session of [...sessions].sort((a, b) => b.updatedAt - a.updatedAt)) {
    if (!fits(session, filter)) continue
    fitting.add(session.id)
    if (!matches(session, words)) continue
    const folder = byFolder.get(session.workDir)
    if (folder === undefined) byFolder.set(session.workDir, [session])
    else folder.push(session)
  }
  const rows = [...byFolder].flatMap(([path, group]): ListRow[] => [
    { kind: 'folder', key: `folder:${path}`, name: baseName(path), path, count: group.length },
    ...group.map((session): ListRow => ({ kind: 'session', key: session.id, session })),
  ])
  // Of all sessions everything is found, also what the list is too long for.
  const hits = filter === 'open' ? found.hits : found.hits.filter((hit) => fitting.has(hit.sessionId))
  if (hits.length === 0) return rows
  return [
    ...rows,
    { kind: 'heading', key: 'heading:hits' },
    ...hits.map((hit): ListRow => ({ kind: 'hit', key: `hit:${hit.entryId}`, hit })),
    ...(found.more ? [{ kind: 'more', key: 'more:hits' } as const] : []),
  ]
}

function fits(session: SessionView, filter: SessionFilter): boolean {
  if ((session.archivedAt !== null) !== (filter === 'archived')) return false
  switch (filter) {
    case 'open':
    case 'archived':
      return true
    case 'running':
      return session.state === 'running' || session.state === 'starting' || session.state === 'recovering'
    case 'waiting':
    case 'failed':
    case 'held':
      return session.state === filter
    default:
      return filter === `agent:${session.agentId}`
  }
}

function matches(session: SessionView, words: readonly string[]): boolean {
  if (words.length === 0) return true
  const text = `${titleOf(session)} ${session.workDir}`.toLowerCase()
  return words.every((word) => text.includes(word))
}
