/** `⌘` on a Mac, `Ctrl+` elsewhere. */
export function modifierName(): string {
  return /mac/i.test(navigator.userAgent) ? '⌘' : 'Ctrl+'
}
