import { createBridgeClient } from '../../../src/shared/bridge/client.ts'
import type { HostFrame, ProcedureInput, ProcedureName, ProcedureOutput } from '../../../src/shared/bridge/index.ts'
import { createHostControl } from '../../../src/main/platform/index.ts'

const CONNECT_LIMIT_MS = 30_000

/** One call over the control socket of the host that runs on this data folder. */
export async function callHost<N extends ProcedureName>(
  home: string,
  name: N,
  input: ProcedureInput<N>,
): Promise<ProcedureOutput<N>> {
  const role = await createHostControl().acquire(home)
  if (role.kind === 'host') {
    await role.release()
    throw new Error('no host runs on this data folder')
  }
  const connection = await role.connect(AbortSignal.timeout(CONNECT_LIMIT_MS))
  const bridge = createBridgeClient({
    connect(handlers) {
      connection.onFrame((frame) => handlers.frame(frame as HostFrame))
      connection.onClose(() => handlers.closed({ final: true, error: null }))
      return { send: (frame) => void connection.send(frame), close: () => connection.close() }
    },
    nowMs: () => performance.now(),
    after: (ms, fn) => {
      const timer = setTimeout(fn, ms)
      return () => clearTimeout(timer)
    },
  })
  try {
    await new Promise<void>((resolve, reject) => {
      bridge.onStatus((status) => {
        if (status.kind === 'open') resolve()
        else reject(new Error(`the host is ${status.kind}`))
      })
    })
    return await bridge.call(name, input)
  } finally {
    bridge.close()
  }
}
