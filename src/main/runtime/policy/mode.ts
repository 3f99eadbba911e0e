import { AppError } from '../../../shared/errors.ts'
import { Mode } from '../../../shared/vocabulary.ts'
import type { Source } from '../../../shared/vocabulary.ts'
import { isUnattended } from './source.ts'
import type { ModeCandidates, ResolvedMode, Sandbox } from './types.ts'

const DEFAULT_MODE: Mode = 'agent'

/** A channel has nobody to ask: the guards alone stand between it and the machine. */
const FORCED: Partial<Record<Source, Mode>> = { channel: 'yolo' }

/** The mode that a source dictates, null where the person chooses. */
export function forcedMode(source: Source): Mode | null {
  return FORCED[source] ?? null
}

/**
 * The mode of a run. One function serves display, admission, run rows and recovery. A forced mode wins over everything,
 * malformed hints included; then what was asked for, then the session's, then `agent`.
 * @throws AppError `mode_invalid`; `mode_not_allowed` (`os` unattended, or not enabled in the settings).
 */
export function resolveMode(candidates: ModeCandidates): ResolvedMode {
  const forced = forcedMode(candidates.source)
  if (forced !== null) return { mode: forced, forced: true }
  const requested = parse(candidates.requested)
  const sessionMode = parse(candidates.sessionMode)
  const mode = requested ?? sessionMode ?? DEFAULT_MODE
  if (mode === 'os' && (isUnattended(candidates.source) || !candidates.osEnabled)) {
    throw new AppError(
      'mode_not_allowed',
      'Mode os needs a person at the machine and has to be enabled in the settings.',
    )
  }
  return { mode, forced: false }
}

/** How far the agent's own sandbox is to reach. `confined`: the session's option `sandbox`. */
export function sandboxOf(mode: Mode, confined: boolean): Sandbox {
  if (mode === 'plan') return 'read_only'
  return confined && mode !== 'os' ? 'workspace' : 'none'
}

function parse(value: string | null | undefined): Mode | null {
  if (value === null || value === undefined) return null
  const parsed = Mode.safeParse(value)
  if (parsed.success) return parsed.data
  throw new AppError('mode_invalid', 'There is no such mode. Choose plan, agent, yolo or os.', {
    detail: JSON.stringify(value.slice(0, 64)),
  })
}
