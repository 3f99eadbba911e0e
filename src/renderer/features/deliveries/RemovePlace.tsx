import type { TargetView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { ConfirmDialog, ErrorNote } from '../../ui/index.ts'

export function RemovePlace({ place, onClose }: { place: TargetView; onClose: () => void }) {
  const remove = useChange('deliveries.targets.delete')
  const { deliveries } = strings
  return (
    <ConfirmDialog
      open
      title={deliveries.removeTitle(place.name)}
      description={deliveries.removeText}
      confirm={deliveries.remove}
      cancel={deliveries.cancel}
      pending={remove.isPending}
      onConfirm={() => remove.mutate({ id: place.id }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {remove.error !== null && <ErrorNote error={remove.error} />}
    </ConfirmDialog>
  )
}
