import type { SessionView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { navigate } from '../../stores/navigation.ts'
import { ConfirmDialog, ErrorNote } from '../../ui/index.ts'
import { titleOf } from '../sessions/index.ts'

export interface DeleteDialogProps {
  session: SessionView
  open: boolean
  onClose: () => void
}

/** Deletes the session for good, once it was said what goes with it. */
export function DeleteDialog({ session, open, onClose }: DeleteDialogProps) {
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
