import { AlertDialog } from '@base-ui/react/alert-dialog'
import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import styles from './Dialog.module.css'

export interface ConfirmDialogProps {
  open: boolean
  title: string
  /** What will be lost. */
  description: ReactNode
  confirm: string
  cancel: string
  pending?: boolean
  children?: ReactNode
  onConfirm: () => void
  onClose: () => void
}

/** For what cannot be undone: says what will be lost, and Cancel has the focus. */
export function ConfirmDialog({
  open,
  title,
  description,
  confirm,
  cancel,
  pending = false,
  children,
  onConfirm,
  onClose,
}: ConfirmDialogProps) {
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => next || onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={styles.backdrop} />
        <AlertDialog.Popup className={styles.popup}>
          <AlertDialog.Title className={styles.title}>{title}</AlertDialog.Title>
          <AlertDialog.Description className={styles.description}>{description}</AlertDialog.Description>
          {children}
          <div className={styles.actions}>
            <Button onClick={onClose}>{cancel}</Button>
            <Button tone="danger" pending={pending} onClick={onConfirm}>
              {confirm}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
