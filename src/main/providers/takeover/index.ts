import { claudeProjector } from './claude.ts'
import { codexProjector } from './codex.ts'
import type { Projector, TakeoverClient } from './types.ts'

export { createRecords } from './record.ts'
export { createSurroundings } from './surroundings.ts'
export type { Surroundings } from './surroundings.ts'
export { createTakeover } from './takeover.ts'
export type { EnableRequest, Takeover, TakeoverGateway } from './ports.ts'
export type {
  PlanHunk,
  ProjectionKind,
  TakeoverChange,
  TakeoverClient,
  TakeoverDetail,
  TakeoverPlan,
  TakeoverState,
  TakeoverStatus,
  TakeoverWarning,
} from './types.ts'

export const PROJECTORS: Readonly<Record<TakeoverClient, Projector>> = {
  codex: codexProjector,
  claude: claudeProjector,
}
