import type { RuntimeChoice } from '../../shared/vocabulary.ts'
import type { Clock, Ids, Log, Paths, Store } from '../platform/index.ts'
import type { Providers } from '../providers/index.ts'
import type { ExecutionSink, ExecutionSpec } from '../runtime/index.ts'
import type { Session, Workers } from '../workers/index.ts'
import type { AgentSessions } from './agent-sessions.ts'
import type { AgentDefinition, Agents } from './agents.ts'
import type { WorkerLedger } from './ledger.ts'
import type { PermissionDesk } from './permissions.ts'

export interface ExecutorDeps {
  clock: Clock
  ids: Ids
  log: Log
  paths: Paths
  store: Store
  workers: Workers
  providers: Providers
  agents: Agents
  /** A variable of the host's environment. */
  hostEnv(name: string): string | undefined
}

export interface Parts extends ExecutorDeps {
  ledger: WorkerLedger
  agentSessions: AgentSessions
}

/** What a worker was opened with: a run that wants anything else needs another one. */
export interface WorkerSetup {
  mode: ExecutionSpec['policy']['mode']
  sandbox: ExecutionSpec['policy']['sandbox']
  roots: readonly string[]
  choice: RuntimeChoice
}

/** A worker of this process. It belongs to its session; a run borrows it. */
export interface LiveWorker {
  readonly workerId: string
  readonly sessionId: string
  readonly agent: AgentDefinition
  readonly session: Session
  readonly desk: PermissionDesk
  readonly openedAtMs: number
  setup: WorkerSetup
  /** Whose run gets content from now on. */
  lend(sink: ExecutionSink | null): void
  /** True once its process went, by itself or by us. */
  exited(): boolean
}
