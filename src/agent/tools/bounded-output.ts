/** Keeps the beginning and the end of a stream that may be endless, and counts what lay between. */

export interface BoundedOutput {
  push(chunk: Buffer): void
  /** Head, a line that tells how much is missing, tail. */
  text(): string
  /** The newest `bytes`, for a live view. */
  tail(bytes: number): string
}

export function createBoundedOutput(limits: { headBytes: number; tailBytes: number }): BoundedOutput {
  const head: Buffer[] = []
  let headBytes = 0
  let tail: Buffer[] = []
  let tailBytes = 0
  let dropped = 0

  /** Pieces are joined only when they exceed the bound twice, so that each byte is copied about once. */
  function trim(): void {
    if (tailBytes <= limits.tailBytes * 2) return
    const joined = Buffer.concat(tail)
    // A copy, so that the large buffer can go.
    tail = [Buffer.from(joined.subarray(joined.length - limits.tailBytes))]
    dropped += joined.length - limits.tailBytes
    tailBytes = limits.tailBytes
  }

  return {
    push(chunk) {
      const room = Math.min(chunk.length, limits.headBytes - headBytes)
      if (room > 0) {
        head.push(chunk.subarray(0, room))
        headBytes += room
      }
      if (room < chunk.length) {
        tail.push(chunk.subarray(room))
        tailBytes += chunk.length - room
        trim()
      }
    },
    text() {
      const end = Buffer.concat(tail)
      const missing = dropped + Math.max(0, end.length - limits.tailBytes)
      const begin = Buffer.concat(head)
      if (missing === 0) return Buffer.concat([begin, end]).toString('utf8')
      const last = end.subarray(Math.max(0, end.length - limits.tailBytes))
      return `${begin.toString('utf8')}\n[${missing} bytes left out]\n${last.toString('utf8')}`
    },
    tail(bytes) {
      const all = Buffer.concat([...(dropped === 0 ? head : []), ...tail])
      return all.subarray(Math.max(0, all.length - bytes)).toString('utf8')
    },
  }
}
