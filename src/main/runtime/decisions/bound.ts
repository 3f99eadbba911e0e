import type { ActiveRun } from '../execution/active.ts'
import type { DecisionRow } from '../types.ts'

/** Which request of which running agent is which decision, and which of them still want their answer. In memory alone. */
export interface BoundRequests {
  /** The request is this row. */
  remember(run: ActiveRun, row: DecisionRow): void
  /** The request is this row, and its agent waits for the answer. */
  await(run: ActiveRun, row: DecisionRow): void
  /** True for the one caller that may hand over the answer. */
  claim(run: ActiveRun, requestId: string): boolean
  /** The id of the decision, answered or not. */
  idOf(run: ActiveRun, requestId: string): string | null
  /** The id of the decision whose answer the agent waits for. */
  awaited(run: ActiveRun, requestId: string): string | null
  /** All that the agent waits for. */
  allAwaited(run: ActiveRun): readonly { requestId: string; decisionId: string }[]
  /** Whether any agent waits. */
  any(): boolean
  forget(run: ActiveRun): void
}

type ByRun = Map<string, Map<string, string>>

export function createBoundRequests(): BoundRequests {
  const open: ByRun = new Map()
  const known: ByRun = new Map()

  function put(map: ByRun, { spec: { runId } }: ActiveRun, { requestId, id }: DecisionRow): void {
    const own = map.get(runId) ?? new Map<string, string>()
    map.set(runId, own.set(requestId, id))
  }

  return {
    remember: (run, row) => put(known, run, row),
    await(run, row) {
      put(open, run, row)
      put(known, run, row)
    },
    claim: (run, requestId) => open.get(run.spec.runId)?.delete(requestId) === true,
    idOf: (run, requestId) => known.get(run.spec.runId)?.get(requestId) ?? null,
    awaited: (run, requestId) => open.get(run.spec.runId)?.get(requestId) ?? null,
    allAwaited: (run) =>
      [...(open.get(run.spec.runId) ?? [])].map(([requestId, decisionId]) => ({ requestId, decisionId })),
    any: () => [...open.values()].some((requests) => requests.size > 0),
    forget(run) {
      open.delete(run.spec.runId)
      known.delete(run.spec.runId)
    },
  }
}
