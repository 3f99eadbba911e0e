const SETTLE_FRAMES = 6

/** Every turn that is shown, the oldest first. */
export const shownTurns = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('main article[data-turn]')]

/** Turns that were far away get their real height on arrival: the place is kept until they have. */
export function goToTurn(turn: HTMLElement | undefined, frames = SETTLE_FRAMES): void {
  if (turn === undefined) return
  if (frames === SETTLE_FRAMES) turn.focus({ preventScroll: true })
  turn.scrollIntoView({ block: 'start' })
  if (frames > 0) requestAnimationFrame(() => goToTurn(turn, frames - 1))
}
