import { useEffect, useState } from 'react'

/** Something outside of React that lives as long as the component, or until `open` is another function; null before. */
export function useOpened<T extends { close(): void }>(open: () => T): T | null {
  const [opened, setOpened] = useState<T | null>(null)
  useEffect(() => {
    const resource = open()
    // oxlint-disable-next-line react/set-state-in-effect -- opening has effects of its own: it cannot happen in a render
    setOpened(resource)
    return () => {
      resource.close()
      setOpened(null)
    }
  }, [open])
  return opened
}
