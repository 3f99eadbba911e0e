import { useState } from 'react'
import type { SessionView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { navigate } from '../../stores/navigation.ts'
import { ConfirmDialog, ErrorNote, Menu } from '../../ui/index.ts'
import { titleOf } from '../sessions/index.ts'

export function SessionMenu({ session, onRename }: { session: SessionView; onRename: () => void }) {
  const [deleting, setDeleting] = useState(false)
  const archive = useChange('sessions.archive')
  const archived = session.archivedAt !== null
  return (
    <>
      {archive.error !== null && <ErrorNote error={archive.error} />}
      <Menu
        label={strings.session.menu}
        trigger={
          <svg viewBox="0 0 16 16" width="16" height="16" fill="currentColor" aria-hidden="true">
            <circle cx="3" cy="8" r="1.25" />
            <circle cx="8" cy="8" r="1.25" />
            <circle cx="13" cy="8" r="1.25" />
          </svg>
        }
        actions={[
          // The menu gives the focus back first; the field takes it after that.
          { label: strings.session.rename, onSelect: () => setTimeout(onRename, 0) },
          { label: strings.session.copyPath, onSelect: () => void navigator.clipboard.writeText(session.workDir) },
          {
            label: archived ? strings.session.unarchive : strings.session.archive,
            onSelect: () => archive.mutate({ sessionId: session.id, archived: !archived }),
          },
          { label: strings.session.remove, tone: 'danger', onSelect: () => setDeleting(true) },
        ]}
      />
      <DeleteDialog session={session} open={deleting} onClose={() => setDeleting(false)} />
    </>
  )
}

function DeleteDialog({ session, open, onClose }: { session: SessionView; open: boolean; onClose: () => void }) {
  const remove = useChange('sessions.delete')
  return (
    <ConfirmDialog
      open={open}
      title={strings.session.removeTitle(titleOf(session))}
      description={strings.session.removeText}
      confirm={strings.session.removeConfirm}
      cancel={strings.session.cancel}
      pending={remove.isPending}
      onConfirm={() =>
        remove.mutate(
          { sessionId: session.id },
          {
            onSuccess: () => {
              onClose()
              navigate({ kind: 'home' })
            },
          },
        )
      }
      onClose={() => {
        remove.reset()
        onClose()
      }}
    >
      {remove.error !== null && <ErrorNote error={remove.error} />}
    </ConfirmDialog>
  )
}
