import type { RawData, WebSocket } from 'ws'
import { WIRE_LIMITS } from '../../shared/bridge/index.ts'
import { AppError } from '../../shared/errors.ts'
import type { FrameConnection } from '../platform/types.ts'

/** What one frame may weigh with its envelope; beyond `MAX_PAYLOAD` the socket itself closes. */
const MAX_FRAME_BYTES = WIRE_LIMITS.inputBytes + 65_536
export const MAX_PAYLOAD = 16 * 1_048_576

/** A WebSocket as a duplex of JSON frames. */
export function socketConnection(socket: WebSocket): FrameConnection {
  const onClose = new Set<() => void>()
  const onDrain = new Set<() => void>()
  let onFrame: (frame: unknown) => void = () => {}
  let onBadFrame: (error: AppError) => void = () => {}

  socket.on('message', (data: RawData, isBinary: boolean) => {
    const bytes = toBuffer(data)
    if (isBinary) return onBadFrame(new AppError('frame_malformed', 'Frames are JSON text.'))
    if (bytes.length > MAX_FRAME_BYTES)
      return onBadFrame(new AppError('frame_too_large', 'A frame may hold one mebibyte at most.'))
    let frame: unknown
    try {
      frame = JSON.parse(bytes.toString('utf8'))
    } catch {
      return onBadFrame(new AppError('frame_malformed', 'That frame is no JSON.'))
    }
    onFrame(frame)
  })
  socket.on('close', () => {
    for (const listener of onClose) listener()
    onClose.clear()
    onDrain.clear()
  })
  socket.on('error', () => socket.terminate())

  const flushed = (): void => {
    if (socket.bufferedAmount >= WIRE_LIMITS.bufferedBytes) return
    for (const listener of onDrain) listener()
  }

  return {
    send(frame) {
      if (socket.readyState !== socket.OPEN) return true
      socket.send(JSON.stringify(frame), flushed)
      return socket.bufferedAmount < WIRE_LIMITS.bufferedBytes
    },
    onFrame(listener) {
      onFrame = listener
    },
    onBadFrame(listener) {
      onBadFrame = listener
    },
    onClose(listener) {
      onClose.add(listener)
    },
    onDrain(listener) {
      onDrain.add(listener)
      return () => onDrain.delete(listener)
    },
    bufferedBytes: () => socket.bufferedAmount,
    close: () => socket.close(1008),
  }
}

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}
