/** One JSON object a line over a socket of the host's, in order. */
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { createInterface } from 'node:readline'

export interface Frames {
  send(frame: object): void
  /** The next frame. @throws Error: the host closed the connection. */
  receive(): Promise<unknown>
  close(): void
}

/** @throws Error: nobody listens there. */
export async function connectFrames(path: string, waitMs: number): Promise<Frames> {
  const socket = createConnection(path)
  const limit = AbortSignal.timeout(waitMs)
  limit.addEventListener('abort', () => socket.destroy(), { once: true })
  await once(socket, 'connect', { signal: limit })
  socket.on('error', () => undefined)
  const lines = createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]()
  return {
    send: (frame) => void socket.write(`${JSON.stringify(frame)}\n`),
    async receive() {
      const next = await lines.next()
      if (next.done === true) throw new Error('The host closed the connection.')
      return JSON.parse(next.value) as unknown
    },
    close: () => socket.destroy(),
  }
}
