/** Holds back the beginning of a stream until its first event is known: nothing has reached the agent then. */
import { Readable } from 'node:stream'
import { createFactReader, streamErrorOf } from './answer-facts.ts'
import { createSseFraming } from './sse.ts'

/** A longer first event is none that this waits for. */
const HELD_BYTES = 16_384
const ERRORS: ReadonlySet<string> = new Set(['error', 'response.failed'])

export interface FirstEvent {
  /** The upstream's word for what failed, where the first event is an error; else null. */
  readonly error: string | null
  /** The whole body still, its beginning included. */
  readonly body: Readable
}

export function holdFirstEvent(body: Readable): Promise<FirstEvent> {
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

    const onReadable = (): void => {
      for (;;) {
        const chunk = body.read() as Buffer | null
        if (chunk === null) return
        held.push(chunk)
        bytes += chunk.length
        framing.push(chunk)
        if (seen.first !== null || bytes >= HELD_BYTES) {
          // In the turn it was read in, so that the stream has not ended meanwhile.
          body.unshift(Buffer.concat(held))
          return settle(body, seen.first?.error ?? null)
        }
      }
    }
    const onEnd = (): void => settle(replay(held, null), null)
    const onClose = (): void => settle(replay(held, new Error('The answer was cut.')), null)
    function settle(whole: Readable, error: string | null): void {
      body.off('readable', onReadable).off('end', onEnd).off('close', onClose)
      resolve({ error, body: whole })
    }
    body.on('error', () => undefined)
    body.on('readable', onReadable).on('end', onEnd).on('close', onClose)
    if (body.destroyed) onClose()
  })
}

/** What was read of a stream that is over by now. */
function replay(held: readonly Buffer[], cut: Error | null): Readable {
  const left = [...held]
  return new Readable({
    read() {
      const next = left.shift()
      if (next !== undefined) this.push(next)
      else if (cut === null) this.push(null)
      else this.destroy(cut)
    },
  })
}
