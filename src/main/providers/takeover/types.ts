/** Words of takeover: a client's own config file names the machine gateway, reversibly. */
import type { PersistOutcome } from '../../../shared/vocabulary.ts'
import type { Splice } from '../router/splices.ts'

export type TakeoverClient = 'codex' | 'claude'

/**
 * What is written. `base_url`: Codex's root key, under which threads stay where they are. `provider_table`: a Provider of
 * Codex's config, to which no login is ever sent. `env`: two variables of Claude Code's settings.
 */
export type ProjectionKind = 'base_url' | 'provider_table' | 'env'

export type TakeoverState = 'active' | 'inactive' | 'drifted' | 'broken'

/** Why a state is what it is. */
export type TakeoverDetail =
  | 'provider_line_user_changed'
  | 'block_user_changed'
  | 'marker_unclosed'
  | 'markers_missing'
  | 'projection_missing'
  | 'address_changed'
  | 'config_missing'
  | 'config_malformed'
  | 'config_unreadable'
  | 'state_missing'
  | 'state_unreadable'
  | 'half_done'
  | 'original_unrecoverable'
  | 'gateway_not_listening'
  | 'table_taken'

export type TakeoverWarning =
  | 'config_world_readable'
  | 'profile_overrides_provider'
  | 'config_path_changed'
  | 'other_auth_present'
  | 'higher_scope_overrides'
  | 'managed_settings_present'
  | 'system_proxy_may_capture_loopback'
  | 'login_goes_to_the_port'
  | 'threads_hide'
  | 'not_durable'

/** Where the gateway listens, and the local key that opens it. */
export interface Target {
  /** `127.0.0.1:<port>`. */
  readonly address: string
  readonly key: string
  /** Codex's table alone: Codex stays signed in and sends its login along, which the gateway removes. */
  readonly keepLogin?: boolean | undefined
}

/** What stood under a key before. `text`: the value's own token; where it may be a real key, only `inBackup` is kept. */
export interface Original {
  readonly key: string
  readonly present: boolean
  readonly text?: string | undefined
  readonly inBackup?: boolean | undefined
}

/** What a projection has to remember, so that it can be taken back to the byte. */
export interface Written {
  readonly kind: ProjectionKind
  readonly originals: readonly Original[]
  readonly addedFinalEol: boolean
}

export interface Applied extends Written {
  /** On the text before. None: it holds the projection already. */
  readonly splices: readonly Splice[]
  readonly after: string
}

export interface Removed {
  readonly after: string
  readonly detail: TakeoverDetail | null
  /** Something of ours that the person changed stays. */
  readonly left: boolean
  /** Nothing of the person's is in the text. */
  readonly empty: boolean
}

/** `foreign`: the names of ours are taken by something that is not. */
export type Finding =
  | { readonly kind: 'none' | 'exact' }
  | { readonly kind: 'drifted' | 'foreign'; readonly detail: TakeoverDetail }

/** One client's config file: pure functions over its text. */
export interface Projector {
  readonly client: TakeoverClient
  /** The kinds it knows, the most careful one first. */
  readonly kinds: readonly ProjectionKind[]
  /** @throws AppError `takeover_config_malformed`, `takeover_config_unsupported`. */
  check(text: string, path: string): void
  /** The kind of what is found without a record; null: nothing of ours. */
  detect(text: string): ProjectionKind | null
  inspect(text: string, kind: ProjectionKind, target: Target | null, written: Written | null): Finding
  /**
   * `before` empty: the file is made. `written`: what stands there already was written by us.
   * @throws AppError `takeover_conflict`, `takeover_config_unsupported`, `takeover_projection_failed`.
   */
  apply(before: string, kind: ProjectionKind, target: Target, written: Written | null): Applied
  /**
   * `backup`: the old file, where the originals are kept in it. `force`: what is ours by name alone goes too.
   * @throws AppError `takeover_projection_failed`.
   */
  remove(
    text: string,
    written: Written | null,
    options: { backup: string | null; force?: boolean; target: Target | null },
  ): Removed
  /** What the person should know of this file beside the change itself. */
  warnings(text: string, kind: ProjectionKind): readonly TakeoverWarning[]
}

export interface TakeoverStatus {
  readonly client: TakeoverClient
  readonly state: TakeoverState
  readonly detail: TakeoverDetail | null
  readonly warnings: readonly TakeoverWarning[]
  readonly configPath: string
  readonly kind: ProjectionKind | null
  /** `provider_table` alone: Codex stays signed in. */
  readonly keepLogin: boolean
  /** Switched on, whatever became of it. */
  readonly enabled: boolean
  readonly listening: boolean
  readonly restoreAvailable: boolean
}

/** Lines of one place of the file. What may be a secret is blanked in them. */
export interface PlanHunk {
  /** Of the first line before, from 1. */
  readonly line: number
  readonly before: readonly string[]
  readonly after: readonly string[]
}

export interface TakeoverPlan {
  readonly client: TakeoverClient
  readonly kind: ProjectionKind
  readonly keepLogin: boolean
  readonly path: string
  readonly creates: boolean
  readonly hunks: readonly PlanHunk[]
  /** Of the file as it is and of what it would become: `enable` carries it. */
  readonly digest: string
  readonly warnings: readonly TakeoverWarning[]
}

export interface TakeoverChange {
  readonly status: TakeoverStatus
  readonly outcome: PersistOutcome
}
