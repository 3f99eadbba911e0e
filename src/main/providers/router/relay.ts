/** Carries an answer's bytes from the upstream to the agent: as they come, and never faster than the agent reads. */
import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'

export type RelayEnd = 'ended' | 'upstream_gone' | 'agent_gone'

/**
 * Resolves when the source has ended or one side is gone; the sink is left open for a last word. `onChunk` sees each chunk
 * before it is written.
 */
export function relay(source: Readable, sink: ServerResponse, onChunk: (chunk: Buffer) => void): Promise<RelayEnd> {
  return new Promise((resolve) => {
    const onData = (chunk: Buffer): void => {
      onChunk(chunk)
      if (!sink.write(chunk)) source.pause()
    }
    const onDrain = (): void => void source.resume()
    const onEnd = (): void => settle('ended')
    const onGone = (): void => settle('upstream_gone')
    const onSinkClose = (): void => settle('agent_gone')
    function settle(end: RelayEnd): void {
      source.off('data', onData).off('end', onEnd).off('close', onGone)
      sink.off('drain', onDrain).off('close', onSinkClose)
      if (end === 'agent_gone') source.destroy()
      resolve(end)
    }
    // An error closes the source; the listener itself stays, since an abort may come later.
    source.on('error', () => undefined)
    source.on('data', onData).on('end', onEnd).on('close', onGone)
    sink.on('drain', onDrain).on('close', onSinkClose)
    if (sink.destroyed) settle('agent_gone')
    else if (source.destroyed) settle('upstream_gone')
  })
}
