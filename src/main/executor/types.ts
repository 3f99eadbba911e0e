import type { RuntimeChoice } from '../../shared/vocabulary.ts'
import type { Clock, Ids, Log, Paths, Store } from '../platform/index.ts'
import type { Providers } from '../providers/index.ts'
import type { ExecutionSink, ExecutionSpec } from '../runtime/index.ts'
import type { Sandbox, Session, Workers } from '../workers/index.ts'
import type { AgentSessions } from './agent-sessions.ts'
import type { AgentDefinition, Agents } from './agents.ts'
import type { ArtifactPort, BridgeProgram, McpServers } from './mcp/index.ts'
import type { WorkerLedger } from './ledger.ts'
import type { PermissionDesk } from './permissions.ts'
import type { FolderTrust } from './trust/index.ts'

export interface ExecutorDeps {
  clock: Clock
  ids: Ids
  log: Log
  paths: Paths
  store: Store
  workers: Workers
  providers: Providers
  agents: Agents
  mcp: McpServers
  trust: FolderTrust
  /** Confines a worker from outside. */
  sandbox: Sandbox
  /** How Wheelhouse's own MCP server is started; null: agents are not given it. */
  bridge: BridgeProgram | null
  /** Where files go that an agent publishes. */
  artifacts: ArtifactPort
  /** A variable of the host's environment. */
  hostEnv(name: string): string | undefined
  /** Resolves once that environment is known whole. */
  environment: Promise<void>
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
  /** Nobody is there: the agent gets no MCP server but those given. */
  unattended: boolean
  /** Changes with the MCP servers that it is given. */
  servers: string
  /** The agent reads what the folder brings with it: settings, hooks, servers, instructions. */
  trusted: boolean
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
  /** The connection of which the session was told that it gets the history cut. */
  toldStripped: string | null
  /** Whose run gets content, and publishes files, from now on. */
  lend(run: { sink: ExecutionSink; runId: string } | null): void
  /** True once its process went, by itself or by us. */
  exited(): boolean
}
