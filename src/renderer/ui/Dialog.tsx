import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import styles from './Dialog.module.css'

export interface DialogProps {
  open: boolean
  title: string
  description?: ReactNode
  children?: ReactNode
  /** Buttons, the safe one first in the tab order. */
  actions?: ReactNode
  size?: 'narrow' | 'wide'
  onClose: () => void
}

/** Its own failures are shown inside it; closing gives the focus back to what opened it. */
export function Dialog({ open, title, description, children, actions, size = 'narrow', onClose }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup className={styles.popup} data-size={size}>
          <Base.Title className={styles.title}>{title}</Base.Title>
          {description !== undefined && (
            <Base.Description className={styles.description}>{description}</Base.Description>
          )}
          {children}
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
