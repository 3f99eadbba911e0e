import { useState } from 'react'
import type { SessionView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { useOfferActions } from '../../stores/actions.ts'
import { navigate } from '../../stores/navigation.ts'
import { ErrorNote, Menu } from '../../ui/index.ts'
import { titleOf } from '../sessions/index.ts'
import { AsideDialog } from './AsideDialog.tsx'
import { DeleteDialog } from './DeleteDialog.tsx'
import { useExport } from './useExport.ts'
import { useFork } from './useFork.ts'

/** What can be done with the session as a whole, in its menu and in the command palette. */
export function SessionMenu({ session, onRename }: { session: SessionView; onRename: () => void }) {
  const [open, setOpen] = useState<'aside' | 'delete' | null>(null)
  const archive = useChange('sessions.archive')
  const { fork, error: forkError } = useFork(session.id)
  const { start: save, error: exportError } = useExport(session.id)
  const archived = session.archivedAt !== null
  const act = (id: ActionId): void => {
    switch (id) {
      case 'rename':
        return onRename()
      case 'aside':
        return setOpen('aside')
      case 'fork':
        return fork()
      case 'permissions':
        return navigate({ kind: 'permissions', sessionId: session.id })
      case 'exportMarkdown':
        return save('markdown')
      case 'exportJsonl':
        return save('jsonl')
      case 'copyPath':
        return void navigator.clipboard.writeText(session.workDir)
      case 'archive':
      case 'unarchive':
        return archive.mutate({ sessionId: session.id, archived: !archived })
      default:
        return setOpen('delete')
    }
  }
  const title = titleOf(session)
  const actions = actionIds(archived).map((id) => ({
    id: `session:${id}`,
    label: strings.session.actions[id],
    note: title,
    ...(id === 'remove' ? { tone: 'danger' as const } : {}),
    // The menu gives the focus back first; what opens takes it after that.
    onSelect: () => setTimeout(() => act(id), 0),
  }))
  useOfferActions(actions)
  const error = archive.error ?? forkError ?? exportError
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      <Menu
        label={strings.session.menu}
        trigger={
          <svg viewBox="0 0 16 16" width="16" height="16" fill="currentColor" aria-hidden="true">
            <circle cx="3" cy="8" r="1.25" />
            <circle cx="8" cy="8" r="1.25" />
            <circle cx="13" cy="8" r="1.25" />
          </svg>
        }
        actions={actions}
      />
      {open === 'aside' && <AsideDialog sessionId={session.id} onClose={() => setOpen(null)} />}
      <DeleteDialog session={session} open={open === 'delete'} onClose={() => setOpen(null)} />
    </>
  )
}

type ActionId = keyof typeof strings.session.actions

function actionIds(archived: boolean): readonly ActionId[] {
  return [
    'rename',
    'aside',
    'fork',
    'exportMarkdown',
    'exportJsonl',
    'permissions',
    'copyPath',
    archived ? 'unarchive' : 'archive',
    'remove',
  ]
}
