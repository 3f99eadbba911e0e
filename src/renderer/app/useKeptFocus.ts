import { useEffect, useRef } from 'react'
import type { RefObject } from 'react'

/** A view that goes takes along what had the focus in it: the pane has it then. `hash` names the view. */
export function useKeptFocus(hash: string, pane: RefObject<HTMLElement | null>): void {
  const shown = useRef(hash)
  const focused = useRef(false)
  useEffect(() => {
    const onFocus = (): void => {
      focused.current = true
    }
    document.addEventListener('focusin', onFocus, { once: true })
    return () => document.removeEventListener('focusin', onFocus)
  }, [])
  useEffect(() => {
    if (shown.current === hash) return undefined
    shown.current = hash
    // A page that was just loaded begins at its top.
    if (!focused.current) return undefined
    const keep = (): void => {
      const holder = document.activeElement
      // A dialog that led here, such as the palette, gives the focus back when it has gone, to what may have gone, too.
      if (holder?.closest('[data-closed]') != null) frame = requestAnimationFrame(keep)
      else if (holder === document.body) pane.current?.focus()
    }
    let frame = requestAnimationFrame(keep)
    return () => cancelAnimationFrame(frame)
  }, [hash, pane])
}
