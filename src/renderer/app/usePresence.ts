import { useEffect } from 'react'
import { useBridge, useBridgeStatus } from '../bridge/index.ts'
import type { View } from '../stores/navigation.ts'

/** Tells the host what this window shows and whether it has the focus, so that it interrupts nobody who is looking. */
export function usePresence(view: View): void {
  const bridge = useBridge()
  const open = useBridgeStatus().kind === 'open'
  const shows = view.kind === 'session' ? view.sessionId : view.kind
  useEffect(() => {
    if (!open) return undefined
    const tell = (): void => {
      // A host that is going away forgets this window by itself.
      bridge.call('presence.set', { shows, focused: document.hasFocus() }).catch(() => {})
    }
    tell()
    window.addEventListener('focus', tell)
    window.addEventListener('blur', tell)
    return () => {
      window.removeEventListener('focus', tell)
      window.removeEventListener('blur', tell)
    }
  }, [bridge, open, shows])
}
