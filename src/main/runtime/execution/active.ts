import type { RunState } from '../../../shared/vocabulary.ts'
import type { Tx } from '../../platform/types.ts'
import type { Emit } from '../events/draft.ts'
import type { RunStream } from '../events/writer.ts'
import type { Lease } from '../leases/keeper.ts'
import type { Execution, ExecutionSpec, PermissionDecision, RawFailure } from '../types.ts'

/** Why a run is to end before its agent says so. */
export type Wish =
  | { kind: 'person' }
  | { kind: 'shutdown'; graceMs: number }
  | { kind: 'deadline' }
  | { kind: 'failure'; raw: RawFailure }

/** A run that this instance owns, from its admission to its end. */
export interface ActiveRun {
  readonly spec: ExecutionSpec
  readonly lease: Lease
  readonly stream: RunStream
  /** As it was committed last. */
  state(): RunState
  /** Somebody wished its end, or its end is known. */
  closing(): boolean
  /** Settles once the run is committed as running; null when it never will be. */
  readonly running: Promise<Execution | null>
  /** Brings the run into a state inside a transaction of its own. */
  moveIn(tx: Tx, emit: Emit, to: RunState, reason: string | null): void
  /** Lets a tool's events say that policy allowed it without asking. */
  allowed(toolCallId: string, by: { reason: string; ruleId: string | null }): void
  /** Hands an answer to the agent: three tries, then the run fails. */
  hand(requestId: string, decision: PermissionDecision): Promise<void>
  /** Something was read for the agent that no tool call tells. */
  looked(): void
  end(wish: Wish): void
  /** It goes on elsewhere, and outlives this process. */
  isRemote(): boolean
  /** Lets go of a run that goes on elsewhere: it is neither ended nor stopped. */
  detach(): void
  /** Settles when the run is no longer owned here: it ended, or it was lost. Never rejects. */
  readonly gone: Promise<void>
}

/** The runs that this instance owns, by session. */
export interface RunRegistry {
  add(run: ActiveRun): void
  remove(run: ActiveRun): void
  ofSession(sessionId: string): ActiveRun | null
  get(runId: string): ActiveRun | null
  all(): readonly ActiveRun[]
}

export function createRunRegistry(): RunRegistry {
  const runs = new Map<string, ActiveRun>()
  return {
    add: (run) => void runs.set(run.spec.sessionId, run),
    remove(run) {
      if (runs.get(run.spec.sessionId) === run) runs.delete(run.spec.sessionId)
    },
    ofSession: (sessionId) => runs.get(sessionId) ?? null,
    get: (runId) => [...runs.values()].find(({ spec }) => spec.runId === runId) ?? null,
    all: () => [...runs.values()],
  }
}
