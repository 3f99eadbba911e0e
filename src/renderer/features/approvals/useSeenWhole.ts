import { useLayoutEffect, useRef, useState } from 'react'
import type { RefObject } from 'react'

/** Half-pixels of zoomed windows never keep a person from the end. */
const SLACK_PX = 4

/**
 * True once the end of the box was in sight while the whole text stood in it, and from then on. `onEnd` is told each time
 * the end comes into sight before that.
 */
export function useSeenWhole(
  whole: boolean,
  onEnd: () => void,
): { boxRef: RefObject<HTMLDivElement | null>; onScroll: () => void; seen: boolean } {
  const boxRef = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState(false)

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
    if (whole) measure()
    const observer = new ResizeObserver(() => whole && measure())
    observer.observe(box)
    return () => observer.disconnect()
  })

  return { boxRef, onScroll: measure, seen }
}
