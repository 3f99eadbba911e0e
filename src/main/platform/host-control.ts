import { createSystemClock } from './clock.ts'
import { takeDataLock } from './data-lock.ts'
import { createDurableFile } from './durable-file.ts'
import { createFailpoints } from './failpoints.ts'
import { createFrameSocket } from './frame-socket.ts'
import { connectToHostSocket, listenAtHostSocket } from './host-socket.ts'
import { createIds } from './ids.ts'
import { makeDataDir, pathsIn } from './paths.ts'
import type { Clock, DurableFile, FrameLimits, HostControl } from './types.ts'

/** What a frame needs around the bridge's largest input (1 MiB) and output (4 MiB). */
const ENVELOPE_BYTES = 64 * 1024
const INPUT_BYTES = 1024 * 1024 + ENVELOPE_BYTES
const OUTPUT_BYTES = 4 * 1024 * 1024 + ENVELOPE_BYTES
const HIGH_WATER_BYTES = 256 * 1024

export const HOST_FRAMES: FrameLimits = {
  maxInBytes: INPUT_BYTES,
  maxOutBytes: OUTPUT_BYTES,
  highWaterBytes: HIGH_WATER_BYTES,
}
export const CLIENT_FRAMES: FrameLimits = {
  maxInBytes: OUTPUT_BYTES,
  maxOutBytes: INPUT_BYTES,
  highWaterBytes: HIGH_WATER_BYTES,
}

export interface HostControlDeps {
  clock: Clock
  files: DurableFile
}

export function createHostControl({ clock, files }: HostControlDeps = systemDeps()): HostControl {
  return {
    async acquire(dataDir) {
      const folder = await makeDataDir(dataDir)
      const lock = takeDataLock(folder)
      if (lock !== null) return { kind: 'host', release: async () => lock.release() }
      return {
        kind: 'running',
        async connect(signal) {
          const socket = await connectToHostSocket(pathsIn(folder), clock, signal)
          return createFrameSocket(socket, { clock, limits: CLIENT_FRAMES })
        },
      }
    },
    async listen(dataDir, accept) {
      const paths = pathsIn(await makeDataDir(dataDir))
      return listenAtHostSocket(paths, { clock, files }, (socket) => {
        accept(createFrameSocket(socket, { clock, limits: HOST_FRAMES }))
      })
    },
  }
}

/** The lock comes before everything else of the platform, so what it needs is made here. */
function systemDeps(): HostControlDeps {
  const failpoints = createFailpoints({ enabled: false, env: {} })
  return { clock: createSystemClock(), files: createDurableFile({ ids: createIds(), failpoints }) }
}
