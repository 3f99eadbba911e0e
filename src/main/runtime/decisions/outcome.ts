import { assertNever } from '../../../shared/errors.ts'
import type { DecisionOutcome, DecisionRow, PermissionDecision } from '../types.ts'

/** What whoever answers learns of a question that is settled. */
export function outcomeOf(row: DecisionRow): DecisionOutcome {
  const atMs = row.settledAt ?? 0
  if (row.status === 'resolved' && row.answer !== null && row.by !== null) {
    return { kind: 'already_resolved', answer: row.answer, by: row.by, atMs }
  }
  return {
    kind: 'closed',
    status: row.status === 'timed_out' || row.status === 'withdrawn' ? row.status : 'cancelled',
    atMs,
  }
}

/** A settled row as the agent is told it. */
export function decisionFrom(row: Pick<DecisionRow, 'status' | 'answer' | 'by'>): PermissionDecision {
  const { status, answer, by } = row
  const option = answer !== null && 'option' in answer ? answer.option : null
  const reason = answer !== null && 'option' in answer ? (answer.reason ?? null) : null
  switch (status) {
    case 'timed_out':
      return { allow: false, by: 'expired', reason: 'Nobody answered in time.' }
    case 'withdrawn':
      return { allow: false, by: 'withdrawn', reason: null }
    case 'cancelled':
    case 'pending':
      return { allow: false, by: 'cancelled', reason: null }
    case 'resolved': {
      const allow = option === 'allow_once' || option === 'allow_session' || option === 'allow_project'
      return { allow, by: by?.via === 'policy' ? 'policy' : 'person', reason }
    }
    default:
      return assertNever(status)
  }
}
