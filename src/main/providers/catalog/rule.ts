/** The bounds of a failover rule, and what becomes of it when the default moves. */
import { AppError } from '../../../shared/errors.ts'
import { protocolOf } from '../presets.ts'
import type { Catalog, ClientDefault, ClientId, FailoverRule } from '../types.ts'
import { invalid, isModelId } from '../validation.ts'
import { MAX_CHAIN } from './catalog-file.ts'

type Link = Pick<ClientDefault, 'connectionId' | 'modelId'>

/**
 * @throws AppError `model_profile_invalid` (`data.field`: `chain`), `model_profile_not_found`, `model_profile_unsupported`.
 */
export function checkRule(catalog: Catalog, client: ClientId, of: Link, { chain }: FailoverRule): void {
  if (chain.length === 0 || chain.length > MAX_CHAIN) {
    throw invalid('chain', `Name 1 to ${MAX_CHAIN} fallbacks.`)
  }
  const known = new Map(catalog.connections.map((row) => [row.id, row]))
  const own = known.get(of.connectionId)
  const seen = new Set<string>([nameOf(of)])
  for (const link of chain) {
    const row = known.get(link.connectionId)
    if (row === undefined) {
      throw new AppError(
        'model_profile_not_found',
        'A Provider among the fallbacks no longer exists. Pick another one.',
        {
          detail: link.connectionId,
        },
      )
    }
    if (row.client !== client || (own !== undefined && protocolOf(row) !== protocolOf(own))) {
      throw new AppError(
        'model_profile_unsupported',
        'A fallback has to serve the same agent as the default, and to speak the same API.',
        { detail: row.name },
      )
    }
    if (!isModelId(link.modelId)) throw invalid('chain', 'Choose the model that each Provider is asked for.')
    if (seen.has(nameOf(link))) {
      throw invalid('chain', 'Name each Provider with a model once, and not the default itself.')
    }
    seen.add(nameOf(link))
  }
}

/** The rule once another is the default: without that one. Null: nothing is left of it. */
export function ruleAfter(rule: FailoverRule | undefined, to: Link): FailoverRule | null {
  const chain = rule?.chain.filter((link) => nameOf(link) !== nameOf(to)) ?? []
  return rule === undefined || chain.length === 0 ? null : { ...rule, chain }
}

function nameOf({ connectionId, modelId }: Link): string {
  return `${connectionId} ${modelId}`
}
