/** The door of one client's takeover, and what it is given. */
import type { Clock, DurableFile, Failpoints, Log } from '../../platform/types.ts'
import type { Records } from './record.ts'
import type {
  ProjectionKind,
  Projector,
  TakeoverChange,
  TakeoverPlan,
  TakeoverStatus,
  TakeoverWarning,
  Target,
} from './types.ts'

/** What takeover needs of the gateway. */
export interface TakeoverGateway {
  /** @throws AppError `route_listener_failed`. */
  ensureListening(): Promise<void>
  isListening(): boolean
  /** Makes the local key if there is none. @throws AppError `credential_store_unavailable`, `credential_store_failed`. */
  target(): Promise<Target>
  /** Null: there is no key yet, or it cannot be read. Writes nothing. */
  knownTarget(): Promise<Target | null>
  /** The client's default becomes its upstream where none was chosen. */
  ensureUpstream(): Promise<void>
}

export interface TakeoverDeps {
  projector: Projector
  records: Records
  gateway: TakeoverGateway
  files: DurableFile
  clock: Clock
  log: Log
  failpoints: Failpoints
  /** Where the client looks for its config today. */
  configPath(): string
  /** What else the person should know: a login, other files, a proxy. */
  surroundings(path: string, kind: ProjectionKind): Promise<readonly TakeoverWarning[]>
  preferredKind(): Promise<ProjectionKind>
  onChange(): void
}

/** How it is to be written. Absent: as it is, or what fits this machine. */
export interface Wanted {
  kind?: ProjectionKind | undefined
  /** `provider_table` alone: Codex stays signed in. */
  keepLogin?: boolean | undefined
  configPath?: string | undefined
}

export interface EnableRequest extends Wanted {
  /** Of the plan that the person saw. */
  digest: string
}

export interface Takeover {
  /** Reads the file each time, writes nothing. */
  status(): Promise<TakeoverStatus>
  /** @throws AppError `takeover_config_*`, `takeover_conflict`, `takeover_projection_failed`. */
  plan(wanted?: Wanted): Promise<TakeoverPlan>
  /** @throws AppError as `plan`, and `route_listener_failed`: then the file was not touched. */
  enable(request: EnableRequest): Promise<TakeoverChange>
  disable(): Promise<TakeoverChange>
  /** Writes the projection again over today's file, or takes away what is left of it. Keeps no copy. */
  repair(): Promise<TakeoverChange>
  /** Today's file is kept, then the old one put back. @throws AppError `takeover_backup_missing`. */
  restoreBackup(): Promise<TakeoverChange>
  /** Finishes what a crash cut, and switches on again what a quit switched off. */
  start(): Promise<void>
  /** A quit in order: nothing is left pointing at a gateway that is gone. */
  stop(options: { keep: boolean }): Promise<void>
}
