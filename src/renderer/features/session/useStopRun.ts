import type { SessionView } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'

export interface StopRun {
  stop: () => void
  stopping: boolean
  error: AppError | null
  /** Why the run goes on all the same; null: it does not, or nobody asked. */
  refused: string | null
}

/** Stops the run that is shown, and no later one. */
export function useStopRun(session: SessionView): StopRun {
  const change = useChange('runs.stop')
  const run = session.activeRun
  const stopping = change.isPending || run?.state === 'cancelling' || run?.state === 'terminalizing'
  return {
    stopping,
    error: change.error,
    refused: refusalOf(change.data?.code),
    stop: () => {
      if (run !== null && !stopping) change.mutate({ sessionId: session.id, expectedRunId: run.runId })
    },
  }
}

function refusalOf(code: string | undefined): string | null {
  const why: Readonly<Record<string, string>> = strings.session.notStopped
  return code !== undefined && Object.hasOwn(why, code) ? (why[code] ?? null) : null
}
