import { Button as Base } from '@base-ui/react/button'
import type { ReactNode, Ref } from 'react'
import styles from './Button.module.css'
import { Kbd } from './Kbd.tsx'
import { offProps } from './off.ts'

export interface ButtonProps {
  children: ReactNode
  tone?: 'primary' | 'plain' | 'quiet' | 'danger'
  /** The key that does the same, shown beside the words. */
  shortcut?: string
  /** The action is under way: the button says so and takes no second press. */
  pending?: boolean
  disabled?: boolean
  type?: 'button' | 'submit'
  autoFocus?: boolean
  /** For an action that repeats down a list: begins with the visible words and names its object. */
  'aria-label'?: string
  'aria-describedby'?: string
  ref?: Ref<HTMLButtonElement>
  onClick?: () => void
}

export function Button({
  children,
  tone = 'plain',
  shortcut,
  pending = false,
  disabled = false,
  type = 'button',
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <Base
      {...rest}
      type={type}
      className={styles.button}
      data-tone={tone}
      data-pending={pending ? '' : undefined}
      aria-busy={pending}
      {...offProps(disabled || pending, onClick)}
    >
      {children}
      {shortcut !== undefined && <Kbd>{shortcut}</Kbd>}
    </Base>
  )
}
