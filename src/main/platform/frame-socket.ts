import type { Socket } from 'node:net'
import { AppError } from '../../shared/errors.ts'
import { createFrameDecoder } from './frame-decoder.ts'
import type { Clock, FrameConnection, FrameLimits } from './types.ts'

/** A side that closes waits so long for the other to take what was sent. */
const CLOSE_LIMIT_MS = 1_000

/** Frames over a socket. What arrives before `onFrame` stays in the socket. */
export function createFrameSocket(
  socket: Socket,
  { clock, limits }: { clock: Clock; limits: FrameLimits },
): FrameConnection {
  const decoder = createFrameDecoder(limits.maxInBytes)
  const closeListeners = new Set<() => void>()
  const drainListeners = new Set<() => void>()
  let frameListener: ((frame: unknown) => void) | null = null
  let badListener: ((error: AppError) => void) | null = null
  let closed = false

  function receive(chunk: Buffer): void {
    for (const decoded of decoder.push(chunk)) {
      if (closed) return
      if (decoded.kind === 'frame') frameListener?.(decoded.frame)
      else badListener?.(decoded.error)
    }
  }

  socket.on('drain', () => {
    for (const listener of drainListeners) listener()
  })
  // 'close' follows; a peer that went away is no event of its own.
  socket.on('error', () => undefined)
  socket.once('close', () => {
    closed = true
    for (const listener of closeListeners) listener()
  })

  return {
    send(frame) {
      if (closed) return true
      const line = `${JSON.stringify(frame)}\n`
      const bytes = Buffer.byteLength(line)
      if (bytes > limits.maxOutBytes) {
        throw new AppError('frame_too_large', 'A message is too long to be sent.', { detail: `${bytes} bytes` })
      }
      // Node's own mark is far lower than ours, so 'drain' always follows when this answers false.
      socket.write(line)
      return socket.writableLength <= limits.highWaterBytes
    },
    onFrame(listener) {
      const first = frameListener === null
      frameListener = listener
      if (first) socket.on('data', receive)
    },
    onBadFrame(listener) {
      badListener = listener
    },
    onClose(listener) {
      if (closed) listener()
      else closeListeners.add(listener)
    },
    onDrain(listener) {
      drainListeners.add(listener)
      return () => void drainListeners.delete(listener)
    },
    bufferedBytes: () => socket.writableLength,
    close() {
      if (closed || socket.destroyed) return
      closed = true
      socket.end()
      const limit = clock.after(CLOSE_LIMIT_MS, () => socket.destroy())
      socket.once('close', () => limit[Symbol.dispose]())
      // Reads on to the other side's end, which a paused socket would never see.
      socket.resume()
    },
  }
}
