import { Menu as Base } from '@base-ui/react/menu'
import type { ReactNode } from 'react'
import styles from './Menu.module.css'

export interface MenuAction {
  label: string
  tone?: 'danger'
  disabled?: boolean
  onSelect: () => void
}

export function Menu({
  label,
  trigger,
  actions,
}: {
  label: string
  trigger: ReactNode
  actions: readonly MenuAction[]
}) {
  return (
    <Base.Root>
      <Base.Trigger className={styles.trigger} aria-label={label}>
        {trigger}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="end">
          <Base.Popup className={styles.popup}>
            {actions.map((action) => (
              <Base.Item
                key={action.label}
                className={styles.item}
                data-tone={action.tone}
                disabled={action.disabled === true}
                onClick={action.onSelect}
              >
                {action.label}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
