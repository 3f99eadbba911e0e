import { useEffect, useEffectEvent } from 'react'
import type { RefObject } from 'react'
import { isPlainKey } from '../../app/keys.ts'

const PENDING = 'article[data-decision-status="pending"]'

/** A key of the cards: a letter that acts by itself, once a press. */
export function isCardKey(event: KeyboardEvent): boolean {
  return isPlainKey(event) && !event.repeat
}

/** The pending card that the keys mean: the one with the focus, else the first on the page. */
export function cardOfKeys(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>(PENDING) ?? document.querySelector<HTMLElement>(PENDING)
}

/** The pending cards, in the order of the page. */
export function pendingCards(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(PENDING)]
}

function isInSight(card: HTMLElement): boolean {
  const { top, bottom } = card.getBoundingClientRect()
  return bottom >= 0 && top <= window.innerHeight
}

/** `A` and `D` answer this card while the keys mean it. */
export function useCardKeys(
  cardRef: RefObject<HTMLElement | null>,
  enabled: boolean,
  keys: { allow: () => void; deny: () => void },
): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const key = event.key.toLowerCase()
    if ((key !== 'a' && key !== 'd') || !isCardKey(event) || cardOfKeys() !== cardRef.current) return
    event.preventDefault()
    const card = cardRef.current
    // Nothing is answered out of sight: the first press shows what the keys mean.
    if (card !== null && !isInSight(card)) {
      card.focus()
      card.scrollIntoView({ block: 'nearest' })
    } else if (key === 'a') keys.allow()
    else keys.deny()
  })
  useEffect(() => {
    if (!enabled) return undefined
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [enabled])
}
