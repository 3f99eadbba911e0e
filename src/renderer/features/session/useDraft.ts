import { useCallback, useEffect } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { SessionView } from '../../../shared/bridge/index.ts'
import { useBridge } from '../../bridge/index.ts'
import { createDraftBox, NO_DRAFT } from './draft-box.ts'
import type { DraftBox, DraftState } from './draft-box.ts'
import { useOpened } from './useOpened.ts'

const NONE = createStore<DraftState>(() => NO_DRAFT)

/** The session's draft, kept for as long as the composer stands and saved when it or the page goes. */
export function useDraft(session: SessionView): { draft: DraftState; box: DraftBox | null } {
  const bridge = useBridge()
  const box = useOpened(useCallback(() => createDraftBox(bridge, session.id), [bridge, session.id]))
  useEffect(() => {
    const onHide = (): void => box?.flush()
    window.addEventListener('pagehide', onHide)
    return () => window.removeEventListener('pagehide', onHide)
  }, [box])
  useEffect(
    () => void box?.reload().catch(() => {}),
    // The host tells a session again whenever its draft changes, here or elsewhere: a queued one may be gone by now.
    // oxlint-disable-next-line react/exhaustive-effect-dependencies
    [box, session],
  )
  return { draft: useStore(box?.store ?? NONE), box }
}
