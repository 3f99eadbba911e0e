import { assertNever } from '../../../shared/errors.ts'
import { answerInWords, answersForm } from '../../../shared/questions.ts'
import type { Answer } from '../../../shared/vocabulary.ts'
import type { DecisionOutcome, DecisionRow, PermissionDecision } from '../types.ts'

/** The answer as it is kept: to a form, one given in words becomes one of the form. Null: it is none to this question. */
export function fitted({ kind, options, action }: DecisionRow, answer: Answer): Answer | null {
  if ('option' in answer) return options.includes(answer.option) ? answer : null
  if (kind !== 'question') return null
  if (action.kind !== 'question') return 'text' in answer ? answer : null
  const form = 'form' in answer ? answer.form : answerInWords(action.form, answer.text)
  return form !== null && answersForm(action.form, form) ? { form } : null
}

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
      if (answer !== null && 'form' in answer) return { allow: true, by: 'person', reason: null, form: answer.form }
      const allow = option === 'allow_once' || option === 'allow_session' || option === 'allow_project'
      return { allow, by: by?.via === 'policy' ? 'policy' : 'person', reason }
    }
    default:
      return assertNever(status)
  }
}
