import type { SessionView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'

/** Stops the run that is shown, and no later one. */
export function useStopRun(session: SessionView) {
  const change = useChange('runs.stop')
  const run = session.activeRun
  const stopping = change.isPending || run?.state === 'cancelling' || run?.state === 'terminalizing'
  return {
    stopping,
    error: change.error,
    stop: () => {
      if (run !== null && !stopping) change.mutate({ sessionId: session.id, expectedRunId: run.runId })
    },
  }
}
