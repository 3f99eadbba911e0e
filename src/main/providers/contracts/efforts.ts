import { AppError } from '../../../shared/errors.ts'
import type { ClientId, Effort, RouteProtocol } from '../types.ts'

/** What a model of which nothing is known may be asked for. `max` and `off` need a contract that lists them. */
const UNKNOWN_CONTRACT: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh']
/** An Anthropic model without metadata: the three that the Messages API names. */
const UNKNOWN_MESSAGES: readonly Effort[] = ['low', 'medium', 'high']

/** The efforts a person may pick, `default` apart. `listed: null`: the model's contract is unknown. */
export function offeredEfforts(
  client: ClientId,
  protocol: RouteProtocol,
  listed: readonly Effort[] | null,
): readonly Effort[] {
  // Claude Code decides on thinking itself; the route cannot override it.
  if (client === 'claude') return []
  if (listed !== null) return listed
  return protocol === 'responses' ? UNKNOWN_CONTRACT : UNKNOWN_MESSAGES
}

/** @throws AppError `reasoning_effort_unsupported`. */
export function checkEffort(effort: Effort, offered: readonly Effort[], modelId: string): void {
  if (effort === 'default' || offered.includes(effort)) return
  throw new AppError('reasoning_effort_unsupported', `This model does not offer the effort "${effort}".`, {
    detail: modelId,
    data: { efforts: offered },
  })
}
