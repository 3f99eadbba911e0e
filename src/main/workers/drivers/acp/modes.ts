/**
 * The permission mode, by the agent's own account. What we asked for proves nothing: only what the agent reports does.
 * A mode stands in `modes`, in the select option of category `mode`, or in both.
 */
import type { AgentProfile, PermissionMode } from '../../types.ts'
import type { ConfigOption, SessionState } from './wire.ts'

export interface ModeReport {
  current: string | null
  offered: readonly string[]
  /** The option through which it is set; null: by `session/set_mode`. */
  optionId: string | null
}

/** Null: the agent offers no modes. */
export function modesOf(state: SessionState): ModeReport | null {
  const option = modeOption(state.configOptions ?? [])
  if (option !== null) return { current: textOf(option.currentValue), offered: valuesOf(option), optionId: option.id }
  const { modes } = state
  if (modes === null || modes === undefined) return null
  return { current: modes.currentModeId, offered: modes.availableModes.map(({ id }) => id), optionId: null }
}

export function modeOption(options: readonly ConfigOption[]): ConfigOption | null {
  return options.find((option) => option.category === 'mode') ?? null
}

export function optionOf(options: readonly ConfigOption[], category: string): ConfigOption | null {
  return options.find((option) => option.category === category) ?? null
}

export function valuesOf(option: ConfigOption): readonly string[] {
  return (option.options ?? []).flatMap((each) =>
    'options' in each ? each.options.map(({ value }) => value) : each.value,
  )
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** The agent's id for this mode, or null when it offers none that the profile knows. */
export function wantedMode(profile: AgentProfile, mode: PermissionMode, report: ModeReport): string | null {
  return profile.modes[mode].find((id) => report.offered.includes(id)) ?? null
}
