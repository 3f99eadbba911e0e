/**
 * The props of a button that may be off. It keeps the focus then, and says so to whoever listens for it. Not by Base UI's
 * `focusableWhenDisabled`: that takes every key but Tab, and the keys of a view count while such a button has the focus.
 */
export function offProps(off: boolean, onClick: (() => void) | undefined) {
  return {
    'aria-disabled': off,
    'data-disabled': off ? '' : undefined,
    onClick: (event: { preventDefault(): void }): void => {
      if (off) event.preventDefault()
      else onClick?.()
    },
  }
}
