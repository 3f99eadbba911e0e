/** Switches takeover of Codex in a folder on or off, and dies where it is told to: at the nth passing of a failpoint. */
import { createDurableFile } from '../../../../src/main/platform/durable-file.ts'
import { createIds, createSystemClock } from '../../../../src/main/platform/index.ts'
import { createRecords, createTakeover, PROJECTORS } from '../../../../src/main/providers/takeover/index.ts'
import { createMemoryLog } from '../../../support/log.ts'

const [, , configPath = '', dir = '', action = '', point = '', nth = '1'] = process.argv
let passed = 0
const failpoints = {
  hit(name: string): void {
    if (name !== point || ++passed !== Number(nth)) return
    process.kill(process.pid, 'SIGKILL')
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
  },
}
const files = createDurableFile({ ids: createIds(), failpoints })
const clock = createSystemClock()
const target = async () => ({ address: '127.0.0.1:38777', key: 'whg_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG' })
const takeover = createTakeover({
  projector: PROJECTORS.codex,
  records: createRecords({ client: 'codex', dir, files, clock }),
  gateway: {
    ensureListening: async () => undefined,
    isListening: () => true,
    target,
    knownTarget: target,
    ensureUpstream: async () => undefined,
  },
  files,
  clock,
  log: createMemoryLog(),
  failpoints,
  configPath: () => configPath,
  surroundings: async () => [],
  preferredKind: async () => 'provider_table',
  onChange: () => undefined,
})
if (action === 'enable') await takeover.enable({ digest: (await takeover.plan()).digest })
if (action === 'disable') await takeover.disable()
if (action === 'repair') await takeover.repair()
