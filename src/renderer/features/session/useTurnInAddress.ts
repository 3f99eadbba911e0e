import { useEffect, useRef } from 'react'
import type { TranscriptState } from '../../stores/transcript.ts'
import { goToTurn, shownTurns } from './go-to-turn.ts'

/** Goes to the turn that the address names, once: older ones are read until it is there. */
export function useTurnInAddress(turnId: string | null, state: TranscriptState, loadAll: () => Promise<void>): void {
  const reached = useRef<string | null>(null)
  // A turn whose run is not kept any more is known by its own id.
  const runId = state.runs.find((run) => run.runId === turnId || run.turnId === turnId)?.runId ?? null
  const asks =
    turnId !== null && runId === null && state.status === 'ready' && state.hasEarlier && !state.loadingEarlier
  useEffect(() => {
    if (asks) void loadAll()
    // oxlint-disable-next-line react/exhaustive-deps -- asked once for each time that it is missing
  }, [asks])
  useEffect(() => {
    if (runId === null || turnId === reached.current) return
    reached.current = turnId
    goToTurn(shownTurns().find((turn) => turn.dataset['turn'] === runId))
  }, [runId, turnId])
}
