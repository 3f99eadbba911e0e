import { useEffect, useEffectEvent } from 'react'
import { navigate } from '../stores/navigation.ts'
import { isPlainKey } from './keys.ts'

export interface GlobalKeys {
  openPalette: () => void
  openKeys: () => void
  toggleSidebar: () => void
}

export function useGlobalKeys(doors: GlobalKeys): void {
  const onKey = useEffectEvent((event: KeyboardEvent): void => {
    if (event.defaultPrevented) return
    const act = actionOf(event, doors)
    if (act === null) return
    event.preventDefault()
    act()
  })
  useEffect(() => {
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

function actionOf(event: KeyboardEvent, doors: GlobalKeys): (() => void) | null {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
    if (event.key === 'k') return doors.openPalette
    if (event.key === 'b') return doors.toggleSidebar
    return null
  }
  if (!isPlainKey(event)) return null
  switch (event.key) {
    case '?':
      return doors.openKeys
    case 'n':
      return () => navigate({ kind: 'new' })
    case 'g':
      return () => navigate({ kind: 'approvals', decisionId: null })
    default:
      return null
  }
}
