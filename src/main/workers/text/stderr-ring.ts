/** The last bytes of an agent's stderr, read for ever so that it never blocks, and shown only through the redactor. */
export interface StderrRing {
  push(chunk: Uint8Array): void
  /** What is held. After an overflow the torn first line is gone: half a secret never survives. */
  text(): string
}

export function createStderrRing(maxBytes: number, longestSecret: () => number): StderrRing {
  let chunks: Uint8Array[] = []
  let held = 0
  let overflowed = false
  return {
    push(chunk) {
      // A copy: a slice would keep the stream's whole slab alive.
      chunks.push(Uint8Array.from(chunk.length > maxBytes ? chunk.subarray(chunk.length - maxBytes) : chunk))
      held += Math.min(chunk.length, maxBytes)
      if (chunk.length > maxBytes) overflowed = true
      while (held > maxBytes) {
        overflowed = true
        const first = chunks[0]
        if (first === undefined) break
        const over = held - maxBytes
        if (first.length <= over) chunks.shift()
        else chunks[0] = first.subarray(over)
        held -= Math.min(first.length, over)
      }
      if (chunks.length > 64) chunks = [Buffer.concat(chunks)]
    },
    text() {
      const text = Buffer.concat(chunks).toString('utf8')
      if (!overflowed) return text
      const lineBreak = text.indexOf('\n')
      return lineBreak === -1 ? text.slice(longestSecret()) : text.slice(lineBreak + 1)
    },
  }
}
