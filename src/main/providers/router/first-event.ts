/** Waits for a stream's first event: nothing has reached the agent until it is known. */
import type { AnswerBody } from '../upstream/index.ts'
import { createFactReader, streamErrorOf } from './answer-facts.ts'
import { createSseFraming } from './sse.ts'

/** A longer first event is none that this waits for. */
const HELD_BYTES = 16_384
const ERRORS: ReadonlySet<string> = new Set(['error', 'response.failed'])

/** The upstream's word for what failed, where the first event is an error; else null. The body is whole afterwards. */
export function firstError(body: AnswerBody): Promise<string | null> {
  return new Promise((resolve) => {
    const held: Buffer[] = []
    let bytes = 0
    const seen: { first: { error: string | null } | null } = { first: null }
    let reader = createFactReader()
    const framing = createSseFraming({
      data(piece) {
        if (seen.first === null) reader.write(piece)
      },
      dispatched(name) {
        if (seen.first !== null) return
        const facts = reader.facts()
        reader = createFactReader()
        const type = name ?? facts.get('type') ?? ''
        seen.first = { error: ERRORS.has(type) ? streamErrorOf(facts) : null }
      },
    })
    const settle = (): void => {
      body.putBack(held)
      resolve(seen.first?.error ?? null)
    }
    body.read({
      data(chunk) {
        held.push(chunk)
        bytes += chunk.length
        framing.push(chunk)
        if (seen.first !== null || bytes >= HELD_BYTES) settle()
      },
      ended: settle,
    })
  })
}
