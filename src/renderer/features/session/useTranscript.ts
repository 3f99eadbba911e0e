import { useCallback } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { useBridge } from '../../bridge/index.ts'
import { openTranscript } from '../../stores/transcript.ts'
import type { TranscriptState } from '../../stores/transcript.ts'
import { useOpened } from './useOpened.ts'

const CLOSED = createStore<TranscriptState>(() => ({
  status: 'loading',
  error: null,
  runs: [],
  hasEarlier: false,
  loadingEarlier: false,
}))

/** The transcript of one session, open for as long as the component stands. */
export function useTranscript(sessionId: string): {
  state: TranscriptState
  loadEarlier: () => void
  loadAll: () => Promise<void>
} {
  const bridge = useBridge()
  const transcript = useOpened(useCallback(() => openTranscript(bridge, sessionId), [bridge, sessionId]))
  const state = useStore(transcript?.store ?? CLOSED)
  return {
    state,
    // What failed is seen by the button, which stays.
    loadEarlier: () => void transcript?.loadEarlier().catch(() => {}),
    loadAll: async () => transcript?.loadAll().catch(() => {}),
  }
}
