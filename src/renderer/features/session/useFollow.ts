import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { RefObject } from 'react'

/** This close to the end counts as being there, in CSS pixels. */
const NEAR_END_PX = 48

export interface Follow {
  /** What scrolls. */
  scroller: RefObject<HTMLDivElement | null>
  /** What is in it, and grows. */
  content: RefObject<HTMLDivElement | null>
  following: boolean
  toLatest: () => void
}

/**
 * Keeps the end in sight while the person is there, and never moves them when they are not. When older turns come in above
 * (`firstId` changes), what was in sight stays where it is.
 */
export function useFollow(firstId: string | null): Follow {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const [following, setFollowing] = useState(true)
  const follows = useRef(true)
  /** The first turn that is shown, and where it stood last. */
  const anchor = useRef<{ turn: HTMLElement; topPx: number } | null>(null)
  const first = useRef(firstId)

  const toLatest = useCallback(() => {
    follows.current = true
    setFollowing(true)
    scrollTo(scroller.current, 'end')
  }, [])

  useEffect(() => {
    const element = scroller.current
    const inner = content.current
    if (element === null || inner === null) return undefined
    let lastTop = element.scrollTop
    const onScroll = (): void => {
      const { scrollTop, scrollHeight, clientHeight } = element
      // Only a way up is a wish to stay there: text that grew before this event came moved nobody.
      if (scrollHeight - scrollTop - clientHeight <= NEAR_END_PX) follows.current = true
      else if (scrollTop < lastTop) follows.current = false
      lastTop = scrollTop
      setFollowing(follows.current)
      anchor.current = anchorOf(element)
    }
    const onSize = new ResizeObserver(() => {
      if (follows.current) scrollTo(element, 'end')
      anchor.current = anchorOf(element)
    })
    element.addEventListener('scroll', onScroll, { passive: true })
    onSize.observe(inner)
    onSize.observe(element)
    return () => {
      element.removeEventListener('scroll', onScroll)
      onSize.disconnect()
    }
  }, [])

  useLayoutEffect(() => {
    const element = scroller.current
    const before = anchor.current
    if (element !== null && before !== null && firstId !== first.current && !follows.current) {
      // Where the browser kept the place by itself, there is nothing left to move.
      element.scrollTop += before.turn.getBoundingClientRect().top - before.topPx
    }
    first.current = firstId
  }, [firstId])
  return { scroller, content, following, toLatest }
}

function scrollTo(element: HTMLElement | null, top: number | 'end'): void {
  if (element !== null) element.scrollTop = top === 'end' ? element.scrollHeight : top
}

function anchorOf(scroller: HTMLElement): { turn: HTMLElement; topPx: number } | null {
  const turn = scroller.querySelector<HTMLElement>('[data-turn]')
  return turn === null ? null : { turn, topPx: turn.getBoundingClientRect().top }
}
