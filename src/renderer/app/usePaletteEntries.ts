import { useMemo } from 'react'
import { markOf, titleOf } from '../features/sessions/index.ts'
import { strings } from '../strings/index.ts'
import { useOfferedActions } from '../stores/actions.ts'
import { useTopic } from '../stores/app-stores.tsx'
import { navigate } from '../stores/navigation.ts'
import type { View } from '../stores/navigation.ts'
import { baseName } from '../text/index.ts'

export interface PaletteEntry {
  id: string
  label: string
  note: string
  run: () => void
}

export interface PaletteDoors {
  onKeys: () => void
  onToggleSidebar: () => void
}

const VIEWS: readonly View[] = [
  { kind: 'new' },
  { kind: 'approvals', decisionId: null },
  { kind: 'permissions' },
  { kind: 'schedules' },
  { kind: 'deliveries' },
  { kind: 'providers' },
  { kind: 'gateway' },
  { kind: 'usage' },
  { kind: 'health' },
  { kind: 'settings' },
]

const { views } = strings.app

interface Doing {
  id: string
  label: string
  note: string
  view: View
}

/** What is done inside a view, by the words that stand there. */
const DOINGS: readonly Doing[] = [
  { id: 'add-provider', label: strings.providers.add, note: views.providers, view: { kind: 'providers', add: true } },
  { id: 'add-schedule', label: strings.schedules.add, note: views.schedules, view: { kind: 'schedules', add: true } },
  { id: 'mcp', label: strings.mcp.heading, note: views.settings, view: { kind: 'settings', part: 'mcp' } },
  { id: 'diagnostics', label: strings.health.diagnostics, note: views.health, view: { kind: 'health' } },
]

export function usePaletteEntries({ onKeys, onToggleSidebar }: PaletteDoors): readonly PaletteEntry[] {
  const sessions = useTopic('sessions', (state) => state.value)
  const offered = useOfferedActions()
  return useMemo(() => {
    const { palette } = strings.app
    return [
      // What is open comes first: it is what most is done with.
      ...[...offered.values()].flat(),
      ...VIEWS.map((view) => ({
        id: view.kind,
        label: views[view.kind],
        note: '',
        run: () => navigate(view),
      })),
      ...DOINGS.map(({ id, label, note, view }) => ({ id, label, note, run: () => navigate(view) })),
      { id: 'sidebar', label: palette.toggleSidebar, note: '', run: onToggleSidebar },
      // Once this dialog is gone, so that the focus goes back to where it was before both.
      { id: 'keys', label: palette.keys, note: '', run: () => setTimeout(onKeys, 0) },
      ...[...sessions.values()]
        .filter((session) => session.archivedAt === null)
        .sort((a, b) => b.updatedAt - a.updatedAt)
        .map((session) => ({
          id: session.id,
          label: titleOf(session),
          note: `${baseName(session.workDir)} · ${markOf(session).label}`,
          run: () => navigate({ kind: 'session', sessionId: session.id }),
        })),
    ]
  }, [sessions, offered, onKeys, onToggleSidebar])
}
