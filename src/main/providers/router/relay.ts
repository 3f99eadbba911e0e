/** Carries an answer's bytes from the upstream to the agent: as they come, and never faster than the agent reads. */
import type { ServerResponse } from 'node:http'
import type { AnswerBody } from '../upstream/index.ts'

export type RelayEnd = 'ended' | 'upstream_gone' | 'agent_gone'

/** What may wait for an agent that does not read. To stop at every chunk costs more than the chunk does. */
const WAITING_BYTES = 262_144

/**
 * Resolves when the source has ended or one side is gone; the sink is left open for a last word. `onChunk` sees each chunk
 * before it is written, and answers whether it keeps it: one that is not kept is nobody's once it has left. What is there
 * already leaves before this returns.
 */
export function relay(
  source: AnswerBody,
  sink: ServerResponse,
  onChunk: (chunk: Buffer) => boolean,
): Promise<RelayEnd> {
  return new Promise((resolve) => {
    const onDrain = (): void => source.resume()
    const onSinkClose = (): void => {
      settle('agent_gone')
      source.destroy()
    }
    const settle = (end: RelayEnd): void => {
      sink.off('drain', onDrain).off('close', onSinkClose)
      resolve(end)
    }
    if (sink.destroyed) return onSinkClose()
    sink.on('drain', onDrain).on('close', onSinkClose)
    return source.read({
      data(chunk) {
        const left = onChunk(chunk) ? undefined : (error?: Error | null) => error ?? source.spent(chunk)
        if (!sink.write(chunk, left) && sink.writableLength > WAITING_BYTES) source.pause()
      },
      // An agent that hangs up ends the flight, and that its upstream: whose end it is, the sink knows.
      ended: (cut) => settle(cut === null ? 'ended' : sink.destroyed ? 'agent_gone' : 'upstream_gone'),
    })
  })
}
