import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import type { Ids } from './types.ts'

/** Time-ordered UUIDs, and bytes of the system's cryptographic source. */
export function createIds(): Ids {
  return { next: () => v7(), bytes: (count) => new Uint8Array(randomBytes(count)) }
}
