const LAYERS = ['dialog', 'alertdialog', 'menu', 'listbox']
/** A list that had the focus once stays in the page while it is closed. */
const OPEN_LAYER = LAYERS.map((role) => `[role="${role}"]:not([data-closed])`).join()

/** A key that acts by itself: no field has the focus, no modifier is down, no dialog is open. */
export function isPlainKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false
  return !isField(event.target) && !isDialogOpen()
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select, [role="combobox"], [role="textbox"]'))
  )
}

/** Dialogs, menus and open lists keep the keys for themselves. */
export function isDialogOpen(): boolean {
  return document.querySelector(OPEN_LAYER) !== null
}
