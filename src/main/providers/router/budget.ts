/** Bounds the memory that request bodies take, over all requests together. */
import { AppError } from '../../../shared/errors.ts'

export const MAX_BUFFERED_BYTES = 268_435_456

/** One request's share. */
export interface BufferBudget {
  /** @throws AppError `route_overloaded`. */
  take(bytes: number): void
  /** Gives everything back. */
  release(): void
}

export function createBufferPool(maxBytes: number): () => BufferBudget {
  let used = 0
  return () => {
    let own = 0
    return {
      take(bytes) {
        if (used + bytes > maxBytes) {
          throw new AppError('route_overloaded', 'Too many large requests run at once. Try again in a moment.')
        }
        used += bytes
        own += bytes
      },
      release() {
        used -= own
        own = 0
      },
    }
  }
}
