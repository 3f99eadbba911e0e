import { AppError } from '../../../shared/errors.ts'
import type { RunState } from '../../../shared/vocabulary.ts'
import type { Emit } from '../events/draft.ts'
import type { Tables } from '../store/index.ts'
import { predecessors } from './machine.ts'

/**
 * Brings a run into a state, with its event. A run that is there already stays as it is, without an event.
 * @throws AppError `run_not_found`, `run_transition_invalid`: nothing is written.
 */
export function transition(
  tables: Tables,
  emit: Emit,
  change: { runId: string; to: RunState; reason: string | null; at: number },
): void {
  const { runId, to, reason, at } = change
  const run = tables.runs.get(runId)
  if (run === null) throw new AppError('run_not_found', 'This run no longer exists.', { detail: runId })
  if (run.state === to) return
  if (!tables.runs.move(runId, to, predecessors(to), at)) {
    throw new AppError('run_transition_invalid', 'The run cannot go there from where it is.', {
      detail: `${run.state} to ${to}`,
    })
  }
  emit({ runId, type: 'run_state', state: to, data: { reason } })
}
