import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { SessionView } from '../../../shared/bridge/index.ts'
import { useBridge } from '../../bridge/index.ts'
import { createDraftBox } from './draft-box.ts'
import type { DraftBox, DraftState } from './draft-box.ts'

const NONE = createStore<DraftState>(() => ({ loaded: false, text: '', queued: false, saved: true, error: null }))

/** The session's draft, kept for as long as the composer stands and saved when it or the page goes. */
export function useDraft(session: SessionView): { draft: DraftState; box: DraftBox | null } {
  const bridge = useBridge()
  const [box, setBox] = useState<DraftBox | null>(null)
  useEffect(() => {
    const opened = createDraftBox(bridge, session.id)
    setBox(opened)
    const onHide = (): void => opened.close()
    window.addEventListener('pagehide', onHide)
    return () => {
      window.removeEventListener('pagehide', onHide)
      opened.close()
      setBox(null)
    }
  }, [bridge, session.id])
  // The host tells a session again whenever its draft changes, here or elsewhere: a queued one may be gone by now.
  useEffect(() => void box?.reload().catch(() => {}), [box, session])
  return { draft: useStore(box?.store ?? NONE), box }
}
