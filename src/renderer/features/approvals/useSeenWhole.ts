import { useLayoutEffect, useRef, useState } from 'react'
import type { RefObject } from 'react'

/** Half-pixels of zoomed windows never keep a person from the end. */
const SLACK_PX = 4

/**
 * `seen` is true once the end of the box was in sight while the whole text stood in it, and from then on. `onEnd` is told each time
 * the end comes into sight before that. `looked`: the box was measured with the whole text in it.
 */
export function useSeenWhole(
  whole: boolean,
  onEnd: () => void,
): { boxRef: RefObject<HTMLDivElement | null>; onScroll: () => void; seen: boolean; looked: boolean } {
  const boxRef = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState(false)
  const [looked, setLooked] = useState(false)

  const measure = (): void => {
    const box = boxRef.current
    if (box === null || seen) return
    if (box.scrollTop + box.clientHeight < box.scrollHeight - SLACK_PX) return
    if (whole) setSeen(true)
    else onEnd()
  }

  useLayoutEffect(() => {
    const box = boxRef.current
    if (box === null || seen) return undefined
    const look = (): void => {
      if (!whole) return
      measure()
      setLooked(true)
    }
    const frame = requestAnimationFrame(look)
    const observer = new ResizeObserver(look)
    observer.observe(box)
    return () => {
      cancelAnimationFrame(frame)
      observer.disconnect()
    }
  })

  return { boxRef, onScroll: measure, seen, looked }
}
