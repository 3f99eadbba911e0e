import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { RefObject } from 'react'

/** This close to the end counts as being there, in CSS pixels. */
const NEAR_END_PX = 48

/**
 * Keeps the end in sight while the person is there, and never moves them when they are not. When older turns come in above
 * (`firstId` changes), what was in sight stays where it is.
 */
export function useFollow(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  firstId: string | null,
): { following: boolean; toLatest: () => void } {
  const [following, setFollowing] = useState(true)
  const follows = useRef(true)
  const height = useRef(0)
  const first = useRef(firstId)

  const toLatest = useCallback(() => {
    const element = scroller.current
    if (element === null) return
    follows.current = true
    setFollowing(true)
    element.scrollTop = element.scrollHeight
  }, [scroller])

  useEffect(() => {
    const element = scroller.current
    const inner = content.current
    if (element === null || inner === null) return undefined
    const onScroll = (): void => {
      const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight <= NEAR_END_PX
      follows.current = atEnd
      setFollowing(atEnd)
    }
    const onSize = new ResizeObserver(() => {
      if (follows.current) element.scrollTop = element.scrollHeight
      height.current = element.scrollHeight
    })
    element.addEventListener('scroll', onScroll, { passive: true })
    onSize.observe(inner)
    onSize.observe(element)
    return () => {
      element.removeEventListener('scroll', onScroll)
      onSize.disconnect()
    }
  }, [scroller, content])

  useLayoutEffect(() => {
    const element = scroller.current
    if (element !== null && first.current !== null && firstId !== first.current && !follows.current) {
      element.scrollTop += element.scrollHeight - height.current
    }
    first.current = firstId
  }, [scroller, firstId])
  return { following, toLatest }
}
