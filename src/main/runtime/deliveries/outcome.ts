import type { OperationOutcome, OperationRow } from '../store/deliveries.ts'
import type { DeliveryResult } from './types.ts'

const WINDOW_MS = 10 * 60_000
const LONGEST_WAIT_MS = 32_000
const SHORTEST_WAIT_MS = 1_000

/**
 * What the result of an attempt makes of its operation: 1, 2, 4 … 32, 32 s until the next one, for ten minutes. What the
 * other side asked for replaces the wait. Checkpoints stay, whatever the result.
 */
export function outcomeOf(
  operation: OperationRow,
  result: DeliveryResult,
  { at, idempotent }: { at: number; idempotent: boolean },
): OperationOutcome {
  const kept = {
    remoteAssetId: result.remoteAssetId ?? operation.remoteAssetId,
    remoteMessageId: result.remoteMessageId ?? operation.remoteMessageId,
    remoteState: result.remoteState ?? operation.remoteState,
    failureCode: result.failureCode ?? '',
    nextAttemptAt: null,
  }
  const { status } = result
  const again = status === 'uploading' || status === 'sending' || (status === 'uncertain' && idempotent)
  if (!again) return { ...kept, status }
  const asked = (result.nextAttemptAt ?? 0) - at >= SHORTEST_WAIT_MS ? result.nextAttemptAt : undefined
  const waitMs = Math.min(LONGEST_WAIT_MS, SHORTEST_WAIT_MS * 2 ** Math.min(5, Math.max(0, operation.attempts - 1)))
  const nextAttemptAt = asked ?? at + waitMs
  if (nextAttemptAt > operation.windowStartedAt + WINDOW_MS) {
    return { ...kept, status: 'failed', failureCode: 'delivery_retries_exhausted' }
  }
  return { ...kept, status: 'retry_wait', nextAttemptAt }
}
