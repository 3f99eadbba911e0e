/** What each saved account said when it was last asked about itself. It is forgotten when the host ends. */
import { AppError } from '../../shared/errors.ts'

export interface Answers {
  /** Asks, and keeps what came of it. A question that was called off says nothing of the account. */
  note<T>(account: Account, signal: AbortSignal, ask: () => Promise<T>): Promise<T>
  /** Why it did not answer; null: it did, or was not asked since address or key changed. */
  refusal(account: Account): AppError | null
  forget(id: string): void
}

/** `fingerprint` changes with address and key. */
export interface Account {
  readonly id: string
  readonly fingerprint: string
}

export function createAnswers(): Answers {
  const refusals = new Map<string, { fingerprint: string; error: AppError }>()
  return {
    async note({ id, fingerprint }, signal, ask) {
      try {
        const answer = await ask()
        refusals.delete(id)
        return answer
      } catch (error) {
        if (error instanceof AppError && !signal.aborted) refusals.set(id, { fingerprint, error })
        throw error
      }
    },
    refusal({ id, fingerprint }) {
      const last = refusals.get(id)
      return last?.fingerprint === fingerprint ? last.error : null
    },
    forget: (id) => void refusals.delete(id),
  }
}
