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
  const height = useRef(0)
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
    const onScroll = (): void => {
      follows.current = element.scrollHeight - element.scrollTop - element.clientHeight <= NEAR_END_PX
      setFollowing(follows.current)
    }
    const onSize = new ResizeObserver(() => {
      if (follows.current) scrollTo(element, 'end')
      height.current = element.scrollHeight
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
    if (element !== null && first.current !== null && firstId !== first.current && !follows.current) {
      scrollTo(element, element.scrollTop + element.scrollHeight - height.current)
    }
    first.current = firstId
  }, [firstId])
  return { scroller, content, following, toLatest }
}

function scrollTo(element: HTMLElement | null, top: number | 'end'): void {
  if (element !== null) element.scrollTop = top === 'end' ? element.scrollHeight : top
}
