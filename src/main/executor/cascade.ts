import { Effort } from '../../shared/vocabulary.ts'
import type { RuntimeChoice } from '../../shared/vocabulary.ts'
import type { RuntimeOption } from './session-runtimes.ts'

const LEVELS = Effort.options.filter((effort) => effort !== 'default')

/**
 * What a session runs on once only its Provider is changed: the same model where the new one has it, else its default, else
 * its first; as much effort as before, or the nearest below that the model takes. `options` has each Provider's default first.
 */
export function cascade(
  options: readonly RuntimeOption[],
  from: RuntimeChoice,
  connectionId: string | null,
): RuntimeChoice {
  if (connectionId === from.connectionId) return from
  const offered = options.filter((option) => option.choice.connectionId === connectionId)
  const chosen = offered.find((option) => option.choice.modelId === from.modelId) ?? offered[0]
  if (chosen === undefined) return { connectionId, modelId: null, effort: 'default' }
  return { connectionId, modelId: chosen.choice.modelId, effort: effortFor(from.effort, chosen.efforts) }
}

/** `default` says nothing to the agent, and so fits every model. */
function effortFor(wanted: Effort, offered: readonly Effort[]): Effort {
  if (wanted === 'default' || offered.includes(wanted)) return wanted
  const below = LEVELS.slice(0, LEVELS.indexOf(wanted)).findLast((level) => offered.includes(level))
  return below ?? 'default'
}
