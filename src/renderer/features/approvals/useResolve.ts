import type { DecisionOutcome } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import type { Answer } from '../../../shared/vocabulary.ts'
import { useChange } from '../../bridge/index.ts'

export interface Resolve {
  send: (answer: Answer) => void
  /** From the press until the answer is settled: no second press counts. */
  pending: boolean
  error: AppError | null
  /** Null until the host said what became of the answer. */
  outcome: DecisionOutcome | null
}

/** Answers one decision. No guess: the topic brings the truth to every window, this one too. */
export function useResolve(decisionId: string, onAnswered: (outcome: DecisionOutcome) => void): Resolve {
  const change = useChange('decisions.resolve')
  const pending = change.isPending || change.data?.kind === 'resolved'
  return {
    send: (answer) => {
      if (!pending) change.mutate({ decisionId, answer }, { onSuccess: onAnswered })
    },
    pending,
    error: change.error,
    outcome: change.data ?? null,
  }
}
