import { createBridgeClient } from '../../shared/bridge/client.ts'
import type { Bridge } from '../../shared/bridge/client.ts'
import type { ClientFrame, HostFrame } from '../../shared/bridge/index.ts'
import type { Clock, FrameConnection } from '../platform/types.ts'

/**
 * A client of the bridge inside the host's own process: the command line's private host, the notifier, the tray. It sees
 * what a window sees and may do what a window may. Frames cross as copies, one microtask later, as on a wire.
 */
export function connectInProcess(clock: Clock, attach: (connection: FrameConnection) => void): Bridge {
  return createBridgeClient({
    connect(handlers) {
      let onFrame: (frame: unknown) => void = () => {}
      const onClose = new Set<() => void>()
      let closed = false
      const close = (): void => {
        if (closed) return
        closed = true
        for (const listener of onClose) listener()
        handlers.closed({ final: true, error: null })
      }
      const later = (fn: () => void): void => queueMicrotask(() => closed || fn())
      attach({
        send(frame) {
          const copy = structuredClone(frame) as HostFrame
          later(() => handlers.frame(copy))
          return true
        },
        onFrame: (listener) => {
          onFrame = listener
        },
        onBadFrame: () => {},
        onClose: (listener) => {
          onClose.add(listener)
        },
        onDrain: () => () => {},
        bufferedBytes: () => 0,
        close,
      })
      return {
        send(frame: ClientFrame) {
          const copy = structuredClone(frame)
          later(() => onFrame(copy))
        },
        close,
      }
    },
    nowMs: () => clock.nowMs(),
    after: (ms, fn) => {
      const timer = clock.after(ms, fn)
      return () => timer[Symbol.dispose]()
    },
  })
}
