import type { WorkerView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { ConfirmDialog, ErrorNote } from '../../ui/index.ts'
import styles from './health.module.css'

export type WorkerAction = 'terminate' | 'settle'

export interface WorkerDialogProps {
  worker: WorkerView
  action: WorkerAction
  onClose: () => void
}

/** Ends a worker's process, or takes a person's word that it is gone: either says first what it means. */
export function WorkerDialog({ worker, action, onClose }: WorkerDialogProps) {
  const terminate = useChange('workers.terminate')
  const settle = useChange('workers.settle')
  const { health } = strings
  const { workerId } = worker
  const name = workerName(worker)
  const ends = action === 'terminate'
  const change = ends ? terminate : settle
  return (
    <ConfirmDialog
      open
      title={ends ? health.terminateTitle(name) : health.settleTitle(name)}
      description={ends ? health.terminateText : health.settleText}
      confirm={ends ? health.terminate : health.settle}
      cancel={health.cancel}
      pending={change.isPending}
      onConfirm={() => {
        if (ends) terminate.mutate({ workerId }, { onSuccess: ({ outcome }) => outcome === 'gone' && onClose() })
        else settle.mutate({ workerId }, { onSuccess: onClose })
      }}
      onClose={onClose}
    >
      {terminate.data?.outcome === 'held' && (
        <p role="alert" className={styles.held}>
          {health.stillHeld}
        </p>
      )}
      {change.error !== null && <ErrorNote error={change.error} />}
    </ConfirmDialog>
  )
}

export function workerName({ product, sessionTitle }: WorkerView): string {
  return sessionTitle === null ? product : `${product}, ${sessionTitle}`
}
