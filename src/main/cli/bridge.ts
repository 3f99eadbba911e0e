import { createBridgeClient } from '../../shared/bridge/client.ts'
import type { Bridge } from '../../shared/bridge/client.ts'
import type { HostFrame } from '../../shared/bridge/index.ts'
import { AppError } from '../../shared/errors.ts'
import { connectInProcess } from '../bridge/index.ts'
import { createHost } from '../host.ts'
import { createHostControl, createSystemClock } from '../platform/index.ts'
import type { FrameConnection } from '../platform/index.ts'

export interface CliBridge extends AsyncDisposable {
  readonly bridge: Bridge
  /** A host was already running on this data folder; else this is a private one that ends with the command. */
  readonly shared: boolean
}

/** The bridge of the host that runs on this data folder, or of a private one that holds the folder's lock meanwhile. */
export async function openCliBridge(options: { dataDir: string; entryDir: string }): Promise<CliBridge> {
  const clock = createSystemClock()
  const role = await createHostControl().acquire(options.dataDir)
  if (role.kind === 'running') {
    const connection = await role.connect(AbortSignal.timeout(10_000))
    const bridge = createBridgeClient({
      connect: (handlers) => overConnection(connection, handlers),
      nowMs: () => clock.nowMs(),
      after: (ms, fn) => {
        const timer = clock.after(ms, fn)
        return () => timer[Symbol.dispose]()
      },
    })
    await untilOpen(bridge)
    return { bridge, shared: true, [Symbol.asyncDispose]: () => Promise.resolve(bridge.close()) }
  }
  try {
    const host = await createHost({ ...options, env: process.env })
    const bridge = connectInProcess(clock, (connection) => host.attach(connection, 'cli'))
    await untilOpen(bridge)
    return {
      bridge,
      shared: false,
      async [Symbol.asyncDispose]() {
        bridge.close()
        await host.stop()
        await role.release()
      },
    }
  } catch (thrown) {
    await role.release()
    throw thrown
  }
}

/** The connection was made once: a host that goes is gone for this command. */
function overConnection(
  connection: FrameConnection,
  handlers: Parameters<Parameters<typeof createBridgeClient>[0]['connect']>[0],
) {
  // The host parsed what it sent against the same contract.
  connection.onFrame((frame) => handlers.frame(frame as HostFrame))
  connection.onBadFrame(() => connection.close())
  connection.onClose(() =>
    handlers.closed({
      final: true,
      error: new AppError('host_unreachable', 'The running Wheelhouse went away. Run the command again.'),
    }),
  )
  return { send: (frame: unknown) => void connection.send(frame), close: () => connection.close() }
}

function untilOpen(bridge: Bridge): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): boolean => {
      const status = bridge.status()
      if (status.kind === 'open') resolve()
      else if (status.kind === 'refused') reject(status.error)
      else return false
      return true
    }
    if (look()) return
    const forget = bridge.onStatus(() => look() && forget())
  })
}
