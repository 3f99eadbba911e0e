import type { RunState } from '../../../shared/vocabulary.ts'

/**
 * From which states the owner and the decision service may bring a run into a state. Whatever stands in no row is refused.
 * Reopening a terminal run is recovery's alone and does not stand here.
 */
const OWNER_FROM: Readonly<Record<RunState, readonly RunState[]>> = {
  created: [],
  queued: ['created'],
  running: ['created', 'queued', 'waiting_for_approval', 'waiting_for_question'],
  waiting_for_approval: ['running', 'waiting_for_question'],
  waiting_for_question: ['running', 'waiting_for_approval'],
  cancelling: ['created', 'queued', 'running', 'waiting_for_approval', 'waiting_for_question'],
  terminalizing: ['created', 'queued', 'running', 'waiting_for_approval', 'waiting_for_question', 'cancelling'],
  completed: ['terminalizing'],
  incomplete: ['terminalizing'],
  failed: ['terminalizing'],
  cancelled: ['terminalizing'],
  timed_out: ['terminalizing'],
}

/** What recovery may end as `failed` or `cancelled`: an orphan that chose no end of its own. */
export const ORPHAN_STATES: readonly RunState[] = [
  'created',
  'queued',
  'running',
  'waiting_for_approval',
  'waiting_for_question',
  'cancelling',
]

export function predecessors(to: RunState): readonly RunState[] {
  return OWNER_FROM[to]
}

/** Same state to same state is a success that changes nothing. */
export function canMove(from: RunState, to: RunState): boolean {
  return from === to || OWNER_FROM[to].includes(from)
}
