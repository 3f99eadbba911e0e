/** The session's own thread, and those of the sub-agents that it began. */
export interface ThreadFamily {
  readonly own: string
  has(threadId: string): boolean
  add(threadId: string): void
}

/** A model can begin many; the oldest are forgotten, and what they still ask is refused. */
const SUB_AGENTS = 256

export function createThreadFamily(own: string): ThreadFamily {
  const begun = new Set<string>()
  return {
    own,
    has: (threadId) => threadId === own || begun.has(threadId),
    add(threadId) {
      begun.add(threadId)
      if (begun.size <= SUB_AGENTS) return
      for (const oldest of begun) {
        begun.delete(oldest)
        break
      }
    },
  }
}
