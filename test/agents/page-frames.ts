/** What a page of the browser host was sent over its sockets. */
import type { Page } from 'playwright-core'

export interface PageFrames {
  /** One per connection, oldest first. */
  generations(): string[]
  /** Sequence numbers of the session's events, in the order in which they came. */
  seqs(sessionId: string): number[]
}

interface Frame {
  hello?: { generation: string }
  event?: { sessionId?: string; seq?: number }
}

/** Sockets that are open already are not seen: load the page anew. */
export function watchFrames(page: Page): PageFrames {
  const generations: string[] = []
  const events: { sessionId: string; seq: number }[] = []
  page.on('websocket', (socket) => {
    socket.on('framereceived', ({ payload }) => {
      const { hello, event } = JSON.parse(String(payload)) as Frame
      if (hello !== undefined) generations.push(hello.generation)
      const { sessionId, seq } = event ?? {}
      if (sessionId !== undefined && seq !== undefined) events.push({ sessionId, seq })
    })
  })
  return {
    generations: () => generations,
    seqs: (sessionId) => events.filter((event) => event.sessionId === sessionId).map(({ seq }) => seq),
  }
}
