import { createBridgeClient } from '../../shared/bridge/client.ts'
import type { Bridge } from '../../shared/bridge/client.ts'
import type { HostFrame } from '../../shared/bridge/index.ts'
import { AppError } from '../../shared/errors.ts'
import { withDeadline } from '../platform/index.ts'
import type { Clock, FrameConnection } from '../platform/index.ts'

const HAND_OVER_LIMIT_MS = 10_000

/**
 * Another Wheelhouse has this data folder: asks it to come to the front. Answers a link where it serves browsers instead.
 * @throws AppError `host_unreachable`, `deadline_exceeded`, or the code that the running one answers.
 */
export function handOver(
  clock: Clock,
  connect: (signal: AbortSignal) => Promise<FrameConnection>,
): Promise<{ url: string | null }> {
  return withDeadline(clock, HAND_OVER_LIMIT_MS, undefined, async (signal) => {
    const connection = await connect(signal)
    const bridge = clientOver(clock, connection)
    try {
      await untilOpen(bridge, signal)
      const { url } = await bridge.call('system.activate', { want: 'window' }, signal)
      return { url: url ?? (await bridge.call('system.activate', { want: 'link' }, signal)).url }
    } finally {
      bridge.close()
    }
  })
}

function clientOver(clock: Clock, connection: FrameConnection): Bridge {
  return createBridgeClient({
    connect(handlers) {
      // The host parsed what it sent against the same contract.
      connection.onFrame((frame) => handlers.frame(frame as HostFrame))
      connection.onBadFrame(() => connection.close())
      connection.onClose(() => handlers.closed({ final: true, error: gone() }))
      return { send: (frame) => void connection.send(frame), close: () => connection.close() }
    },
    nowMs: () => clock.nowMs(),
    after: (ms, fn) => {
      const timer = clock.after(ms, fn)
      return () => timer[Symbol.dispose]()
    },
  })
}

const gone = (): AppError => new AppError('host_unreachable', 'The running Wheelhouse went away. Start it again.')

function untilOpen(bridge: Bridge, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const status = bridge.status()
      if (status.kind === 'open') resolve()
      else if (status.kind === 'refused') reject(status.error)
    }
    signal.addEventListener('abort', () => reject(gone()), { once: true })
    bridge.onStatus(look)
    look()
  })
}
