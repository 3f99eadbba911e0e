import { useEffect, useState } from 'react'

const SETTLES_AFTER_MS = 250

/** The value once it stayed the same for a moment: what is typed is not asked about letter by letter. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLES_AFTER_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
