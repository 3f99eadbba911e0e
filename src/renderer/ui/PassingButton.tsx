import { useLayoutEffect, useRef } from 'react'
import type { ReactNode, RefObject } from 'react'
import { Button } from './Button.tsx'

interface PassingButtonProps {
  /** Takes the focus over when this goes while it has it. */
  heir: RefObject<HTMLElement | null>
  onClick: () => void
  children: ReactNode
}

/** A button that is there only while something is under way, such as the one that stops it. */
export function PassingButton({ heir, onClick, children }: PassingButtonProps) {
  const own = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    const [button, next] = [own.current, heir.current]
    return () => {
      if (button !== null && document.activeElement === button) next?.focus()
    }
  }, [heir])
  return (
    <Button ref={own} tone="quiet" onClick={onClick}>
      {children}
    </Button>
  )
}
