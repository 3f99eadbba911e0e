import { useEffect, useState } from 'react'

const SHOWN_AFTER_MS = 400

/** True once waiting has taken so long that saying so helps. */
export function useLate(waiting: boolean): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    if (!waiting) return undefined
    const timer = setTimeout(() => setLate(true), SHOWN_AFTER_MS)
    return () => {
      clearTimeout(timer)
      setLate(false)
    }
  }, [waiting])
  return late
}
