import { useCallback, useState } from 'react'

export const SIDEBAR = { minPx: 180, maxPx: 480, stepPx: 16, defaultPx: 296 } as const
const KEY = 'wheelhouse.sidebar'

interface Sidebar {
  open: boolean
  width: number
}

/** The session list's place, remembered by this window's browser storage: layout alone, nothing of the content. */
export function useSidebar(): Sidebar & { toggle: () => void; resize: (width: number) => void } {
  const [sidebar, setSidebar] = useState(read)
  const change = useCallback((next: (before: Sidebar) => Sidebar) => {
    setSidebar((before) => {
      const after = next(before)
      write(after)
      return after
    })
  }, [])
  return {
    ...sidebar,
    toggle: useCallback(() => change((before) => ({ ...before, open: !before.open })), [change]),
    resize: useCallback((width: number) => change((before) => ({ ...before, width: clamp(width) })), [change]),
  }
}

const clamp = (width: number): number => Math.round(Math.min(SIDEBAR.maxPx, Math.max(SIDEBAR.minPx, width)))

function read(): Sidebar {
  try {
    const [open, width] = (window.localStorage.getItem(KEY) ?? '').split(' ')
    return { open: open !== 'closed', width: clamp(Number(width) || SIDEBAR.defaultPx) }
  } catch {
    return { open: true, width: SIDEBAR.defaultPx }
  }
}

function write({ open, width }: Sidebar): void {
  try {
    window.localStorage.setItem(KEY, `${open ? 'open' : 'closed'} ${width}`)
  } catch {
    // Storage that is switched off loses the width, nothing more.
  }
}
