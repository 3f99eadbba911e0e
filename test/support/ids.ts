import { createHash } from 'node:crypto'
import type { Ids } from '../../src/main/platform/types.ts'

/**
 * Ids in sequence, the same in every run, and valid as UUID v7. `namespace` (0 to 4095) keeps two makers of one test apart.
 */
export function createFakeIds(namespace = 0): Ids {
  const middle = namespace.toString(16).padStart(3, '0')
  let count = 0
  let draws = 0
  return {
    next: () => `01900000-0000-7${middle}-8000-${(++count).toString(16).padStart(12, '0')}`,
    bytes(length) {
      const blocks: Buffer[] = []
      for (let size = 0; size < length; size += 32) {
        blocks.push(createHash('sha256').update(`${namespace}:${draws++}`).digest())
      }
      return new Uint8Array(Buffer.concat(blocks).subarray(0, length))
    },
  }
}
