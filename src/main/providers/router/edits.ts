/** What the binding changes in a request: its model and its effort, by splices. The binding is authoritative. */
import { assertNever } from '../../../shared/errors.ts'
import type { Effort } from '../../../shared/vocabulary.ts'
import type { EffortPlace, RequestFacts } from './request-reader.ts'
import type { Splice } from './splices.ts'
import type { ExchangeFlag, RouteBinding } from './types.ts'

export interface RequestEdits {
  readonly modelSent: string
  readonly splices: readonly Splice[]
  readonly flags: readonly ExchangeFlag[]
}

/** `isEnabledModel`: whether preset `anthropic` has this `claude-*` id switched on. */
export function planEdits(
  binding: RouteBinding,
  facts: RequestFacts,
  isEnabledModel: (modelId: string) => boolean,
): RequestEdits {
  const splices: Splice[] = [...facts.cuts]
  const flags: ExchangeFlag[] = []
  if (facts.cuts.length > 0) flags.push('stripped')

  const asked = facts.model.text
  const isClients = withoutWindow(asked) === withoutWindow(binding.clientModel)
  const passes = !isClients && isAdmitted(binding, asked, isEnabledModel)
  const modelSent = passes ? asked : binding.upstreamModel
  if (!isClients && !passes) flags.push('model_normalised')
  if (modelSent !== asked) splices.push({ ...span(facts.model), text: JSON.stringify(modelSent) })

  const effort = binding.routeProtocol === 'responses' ? wantedEffort(binding, facts.effort) : null
  if (effort !== null) {
    splices.push(effortSplice(facts.effort, effort))
    flags.push('effort_set')
  }
  return { modelSent, splices, flags }
}

/** `[1m]` asks Claude Code for a longer window; it belongs to the client's name of a model alone. */
function withoutWindow(model: string): string {
  return model.endsWith('[1m]') ? model.slice(0, -4) : model
}

function isAdmitted(binding: RouteBinding, asked: string, isEnabledModel: (modelId: string) => boolean): boolean {
  if (binding.routeProtocol !== 'anthropic_messages') return false
  if (asked === binding.smallModel) return true
  return binding.preset === 'anthropic' && asked.startsWith('claude-') && isEnabledModel(asked)
}

/** The effort to write, in the client's wire spelling; null leaves the body's own. */
function wantedEffort(binding: RouteBinding, place: EffortPlace): string | null {
  const sent = place.kind === 'there' ? place.text : null
  if (binding.effort !== 'default') {
    const wire = toWire(binding.effort)
    return sent === wire ? null : wire
  }
  if (sent === null || sent === 'none' || binding.efforts === null || binding.effortDefault === null) return null
  if (binding.efforts.some((effort) => toWire(effort) === sent)) return null
  return toWire(binding.effortDefault)
}

function toWire(effort: Effort): string {
  return effort === 'off' ? 'none' : effort
}

function effortSplice(place: EffortPlace, effort: string): Splice {
  const value = JSON.stringify(effort)
  switch (place.kind) {
    case 'there':
      return { ...span(place), text: value }
    case 'in_reasoning':
      return insertion(place.at, `"effort":${value}${place.empty ? '' : ','}`)
    case 'replaces_reasoning':
      return { ...span(place), text: `{"effort":${value}}` }
    case 'in_body':
      // The body is never empty: it names its model.
      return insertion(place.at, `"reasoning":{"effort":${value}},`)
    default:
      return assertNever(place)
  }
}

function span(of: { start: number; end: number }): { start: number; end: number } {
  return { start: of.start, end: of.end }
}

function insertion(at: number, text: string): Splice {
  return { start: at, end: at, text }
}
