import type { SessionView } from '../../../shared/bridge/index.ts'
import { baseName } from '../../text/index.ts'
import { titleOf } from './state.ts'

export type SessionFilter = 'open' | 'waiting' | 'running' | 'failed' | 'held' | 'archived'

export type ListRow =
  | { kind: 'folder'; key: string; name: string; path: string; count: number }
  | { kind: 'session'; key: string; session: SessionView }

/** Sessions that fit, by project folder. Newest first: the folders by their newest session, the sessions in each. */
export function listRows(
  sessions: Iterable<SessionView>,
  { search, filter }: { search: string; filter: SessionFilter },
): ListRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const byFolder = new Map<string, SessionView[]>()
  for (const session of [...sessions].sort((a, b) => b.updatedAt - a.updatedAt)) {
    if (!fits(session, filter) || !matches(session, words)) continue
    const folder = byFolder.get(session.workDir)
    if (folder === undefined) byFolder.set(session.workDir, [session])
    else folder.push(session)
  }
  return [...byFolder].flatMap(([path, group]): ListRow[] => [
    { kind: 'folder', key: `folder:${path}`, name: baseName(path), path, count: group.length },
    ...group.map((session): ListRow => ({ kind: 'session', key: session.id, session })),
  ])
}

function fits(session: SessionView, filter: SessionFilter): boolean {
  if ((session.archivedAt !== null) !== (filter === 'archived')) return false
  switch (filter) {
    case 'running':
      return session.state === 'running' || session.state === 'starting' || session.state === 'recovering'
    case 'waiting':
    case 'failed':
    case 'held':
      return session.state === filter
    default:
      return true
  }
}

function matches(session: SessionView, words: readonly string[]): boolean {
  if (words.length === 0) return true
  const text = `${titleOf(session)} ${session.workDir}`.toLowerCase()
  return words.every((word) => text.includes(word))
}
