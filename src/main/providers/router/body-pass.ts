/** Reads a body that was taken in once more, so that everything else gets its turn meanwhile. */
import { createPace } from '../../platform/index.ts'
import type { Clock } from '../../platform/types.ts'

/** To be awaited between the steps of long work on a request. @throws the reason why the request ended. */
export type Pace = () => Promise<void>

/** What is dense takes some milliseconds for each 64 KiB, too long to find out only then. */
const STEP_BYTES = 8_192

export function createRequestPace(clock: Pick<Clock, 'monotonicMs'>, signal: AbortSignal): Pace {
  const pace = createPace(clock)
  return async () => {
    await pace()
    signal.throwIfAborted()
  }
}

/** @throws as `pace`. */
export async function readInTurns(
  chunks: readonly Uint8Array[],
  read: (piece: Uint8Array) => void,
  pace: Pace,
): Promise<void> {
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += STEP_BYTES) {
      read(chunk.subarray(at, at + STEP_BYTES))
      await pace()
    }
  }
}
