import type { FrameConnection } from '../../src/main/platform/types.ts'

export interface ClientEnd {
  frames: Record<string, unknown>[]
  send(frame: unknown): void
  /** While closed, what the host sends piles up, as with a client that does not read. */
  gate(open: boolean): void
  close(): void
  closed(): boolean
  next(fits: (frame: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>
}

/** Two ends of one connection in memory; frames cross as JSON text, as on a wire. */
export function framePair(options: { highWaterBytes?: number } = {}): { host: FrameConnection; client: ClientEnd } {
  const { highWaterBytes = 262_144 } = options
  let onFrame: (frame: unknown) => void = () => {}
  const onClose = new Set<() => void>()
  const onDrain = new Set<() => void>()
  const held: string[] = []
  const waiting = new Set<() => void>()
  const frames: Record<string, unknown>[] = []
  let open = true
  let closed = false
  const bytes = (): number => held.reduce((sum, text) => sum + text.length, 0)
  const deliver = (text: string): void => {
    frames.push(JSON.parse(text) as Record<string, unknown>)
    for (const wake of waiting) wake()
  }
  const close = (): void => {
    if (closed) return
    closed = true
    for (const listener of onClose) listener()
  }
  return {
    host: {
      send(frame) {
        if (closed) return true
        const text = JSON.stringify(frame)
        if (open) deliver(text)
        else held.push(text)
        return bytes() < highWaterBytes
      },
      onFrame: (listener) => {
        onFrame = listener
      },
      onBadFrame: () => {},
      onClose: (listener) => {
        onClose.add(listener)
      },
      onDrain: (listener) => {
        onDrain.add(listener)
        return () => onDrain.delete(listener)
      },
      bufferedBytes: bytes,
      close,
    },
    client: {
      frames,
      send: (frame) => onFrame(JSON.parse(JSON.stringify(frame))),
      gate(next) {
        open = next
        if (!open) return
        for (const text of held.splice(0)) deliver(text)
        for (const listener of onDrain) listener()
      },
      close,
      closed: () => closed,
      next: (fits) =>
        new Promise((resolve) => {
          const look = (): void => {
            const found = frames.find(fits)
            if (found === undefined) return
            waiting.delete(look)
            resolve(found)
          }
          waiting.add(look)
          look()
        }),
    },
  }
}
