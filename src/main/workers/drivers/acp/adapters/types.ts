import type { JsonValue } from '../../../../../shared/vocabulary.ts'
import type { AgentProfile, PermissionMode, SessionConfig } from '../../../types.ts'
import type { DriverDeps } from '../../shared/types.ts'

export interface AdapterParts {
  deps: Pick<DriverDeps, 'findProgram' | 'hostEnv'>
  cfg: SessionConfig
  profile: AgentProfile
  mode: PermissionMode
}

/** What one session of a known agent needs besides its profile. */
export interface Prepared {
  env: Readonly<Record<string, string>>
  /** `_meta` of `session/new`, `session/load` and `session/resume`. */
  sessionMeta: Readonly<Record<string, JsonValue>>
  /** `_meta` of `authenticate`; may hold a route's key. */
  loginMeta: Readonly<Record<string, JsonValue>>
  /** Removes what was written, where nothing was started. */
  discard(): Promise<void>
}

export const NOTHING: Prepared = {
  env: {},
  sessionMeta: {},
  loginMeta: {},
  discard: () => Promise.resolve(),
}
