import { Button as Base } from '@base-ui/react/button'
import { Tooltip } from '@base-ui/react/tooltip'
import type { ReactNode } from 'react'
import styles from './IconButton.module.css'
import { Kbd } from './Kbd.tsx'
import { offProps } from './off.ts'

export interface IconButtonProps {
  /** What it does: its accessible name and its tooltip. */
  label: string
  children: ReactNode
  shortcut?: string
  disabled?: boolean
  pressed?: boolean
  onClick?: () => void
}

export function IconButton({ label, children, shortcut, disabled = false, pressed, onClick }: IconButtonProps) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger
        render={
          <Base className={styles.button} aria-label={label} aria-pressed={pressed} {...offProps(disabled, onClick)}>
            {children}
          </Base>
        }
      />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6}>
          <Tooltip.Popup className={styles.tip}>
            {label}
            {shortcut !== undefined && <Kbd>{shortcut}</Kbd>}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
