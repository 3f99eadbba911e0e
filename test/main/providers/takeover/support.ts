/** Takeover over a real folder, with a gateway that only says whether it listens. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createDurableFile } from '../../../../src/main/platform/durable-file.ts'
import type { Failpoints } from '../../../../src/main/platform/types.ts'
import {
  createRecords,
  createSurroundings,
  createTakeover,
  PROJECTORS,
} from '../../../../src/main/providers/takeover/index.ts'
import type { ProjectionKind, Takeover, TakeoverClient } from '../../../../src/main/providers/takeover/index.ts'
import { createFakeClock } from '../../../support/clock.ts'
import { createTempDir } from '../../../support/dir.ts'
import { createFakeFailpoints } from '../../../support/failpoints.ts'
import { createFakeIds } from '../../../support/ids.ts'
import { createMemoryLog } from '../../../support/log.ts'

export const KEY = 'whg_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'
export const ADDRESS = '127.0.0.1:38777'
export const LINE = 'model_provider = "wheelhouse-gateway"'
export const BLOCK = `# >>> wheelhouse-gateway >>> written by Wheelhouse; turn it off there, or delete down to the closing line
[model_providers.wheelhouse-gateway]
name = "Wheelhouse Gateway"
base_url = "http://${ADDRESS}/v1"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false
http_headers = { "x-wheelhouse-gateway-key" = "${KEY}" }
# <<< wheelhouse-gateway <<<
`
export const URL_LINE = `openai_base_url = "http://${ADDRESS}/k/${KEY}/v1" # wheelhouse-gateway: written by Wheelhouse; turn it off there, or delete this line\n`

export type World = ReturnType<typeof createTakeoverWorld>

export function createTakeoverWorld(client: TakeoverClient = 'codex', kind: ProjectionKind = 'provider_table') {
  const dir = createTempDir()
  const failpoints = createFakeFailpoints()
  const fileFailpoints = createFakeFailpoints()
  const environment: Record<string, string> = {}
  const home = dir.at('home')
  const path = dir.at('home', client === 'codex' ? '.codex/config.toml' : '.claude/settings.json')
  const gateway = { listening: true, address: ADDRESS, key: KEY }

  /** As the next start of a host would make it. */
  function open(armed: Failpoints = failpoints): Takeover {
    const files = createDurableFile({ ids: createFakeIds(), failpoints: fileFailpoints })
    const surroundings = createSurroundings({
      environment: () => environment,
      home,
      platform: 'linux',
      managedSettings: dir.at('managed.json'),
    })
    const target = async () => ({ address: gateway.address, key: gateway.key })
    return createTakeover({
      projector: PROJECTORS[client],
      records: createRecords({ client, dir: dir.at('data'), files, clock: createFakeClock() }),
      gateway: {
        ensureListening: async () => void (gateway.listening = true),
        isListening: () => gateway.listening,
        target,
        knownTarget: target,
        ensureUpstream: async () => undefined,
      },
      files,
      clock: createFakeClock(),
      log: createMemoryLog(),
      failpoints: armed,
      configPath: () => surroundings.configPath(client),
      surroundings: (at, as) => surroundings.warnings(client, at, as),
      preferredKind: async () => kind,
      onChange: () => undefined,
    })
  }
  const takeover = open()

  return {
    dir,
    path,
    failpoints,
    fileFailpoints,
    environment,
    gateway,
    takeover,
    open,
    write(text: string | Uint8Array, mode = 0o600): void {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeFileSync(path, text, { mode })
    },
    read: (): string | null => (existsSync(path) ? readFileSync(path, 'utf8') : null),
    mode: (): number => statSync(path).mode & 0o777,
    recordPath: dir.at('data', `${client}.json`),
    backups: dir.at('data', 'backups'),
    async enable(of: Takeover = takeover) {
      const { digest } = await of.plan()
      return await of.enable({ digest })
    },
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  }
}
