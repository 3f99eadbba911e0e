import { useEffect, useRef, useState } from 'react'
import type { RefObject } from 'react'

/** What is further than this from what can be seen is not drawn, in CSS pixels. */
const NEAR_PX = 1_200

export interface Deferred<E extends HTMLElement> {
  ref: RefObject<E | null>
  /** False: it is far away, and an empty box of its height stands for it. */
  drawn: boolean
  /** The height to keep free, in CSS pixels; undefined while it is drawn. */
  blockSize: number | undefined
}

export interface DeferredOptions {
  /** Whether it is drawn before anybody knows where it is. */
  initially: boolean
  /** It is never taken away: somebody has to answer it, or it grows. */
  keep: boolean
  /** What it is taken to be high before it was ever drawn, in CSS pixels. */
  guessPx: number
}

/**
 * Draws a piece of the transcript only near what can be seen, so that a session of any length costs a few screens. What has
 * the focus stays. It stands inside of an element with `data-transcript`, which scrolls.
 */
export function useDeferred<E extends HTMLElement>({ initially, keep, guessPx }: DeferredOptions): Deferred<E> {
  const ref = useRef<E>(null)
  const [near, setNear] = useState(initially)
  const [heightPx, setHeightPx] = useState(guessPx)
  const drawn = near || keep
  useEffect(() => {
    const element = ref.current
    const root = element?.closest('[data-transcript]') ?? null
    if (element === null || root === null) return undefined
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1)
        if (entry === undefined) return
        if (entry.isIntersecting) return setNear(true)
        if (element.contains(document.activeElement)) return undefined
        if (drawn) setHeightPx(entry.boundingClientRect.height)
        setNear(false)
      },
      { root, rootMargin: `${NEAR_PX}px 0px` },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [drawn])
  return { ref, drawn, blockSize: drawn ? undefined : heightPx }
}
