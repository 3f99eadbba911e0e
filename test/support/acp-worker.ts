/** Fake ACP agents on the real workers, for benchmarks and soaks: no test framework stands around them. */
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createIds, createSecretRegistry, createSystemClock } from '../../src/main/platform/index.ts'
import type { Clock } from '../../src/main/platform/types.ts'
import { buildEnv, createWorkers, customProfile } from '../../src/main/workers/index.ts'
import type { ProcessTable, SessionConfig, Workers } from '../../src/main/workers/index.ts'
import { createTempDir } from './dir.ts'
import { createMemoryLog } from './log.ts'

const SCRIPT = fileURLToPath(new URL('../fixtures/agents/fake-acp.mjs', import.meta.url))

export interface AcpWorkers extends AsyncDisposable {
  workers: Workers
  dir: string
  /** Of one more worker. */
  config(scenario: string, env?: Readonly<Record<string, string>>): Promise<SessionConfig>
}

export interface AcpWorkersOptions {
  clock?: Clock
  processes?: ProcessTable
}

export function createAcpWorkers({ clock = createSystemClock(), processes }: AcpWorkersOptions = {}): AcpWorkers {
  const dir = createTempDir()
  const ids = createIds()
  mkdirSync(dir.at('work'))
  mkdirSync(dir.at('workers'), { mode: 0o700 })
  const workers = createWorkers({
    clock,
    ids,
    log: createMemoryLog(),
    paths: { workers: dir.at('workers') },
    secrets: createSecretRegistry(),
    hostEnv: () => undefined,
    ...(processes === undefined ? {} : { processes }),
  })
  return {
    workers,
    dir: dir.path,
    async config(scenario, env = {}) {
      const workerId = ids.next()
      const privateDir = await workers.privateDir(workerId)
      return {
        workerId,
        cwd: dir.at('work'),
        addDirs: [],
        env: buildEnv([], () => undefined, { PATH: '/usr/bin:/bin', HOME: dir.path, FAKE: scenario, ...env }),
        route: null,
        profile: customProfile({
          id: 'acp:fake',
          product: 'Fake agent',
          command: process.execPath,
          args: [SCRIPT],
          env: {},
        }),
        mcpServers: [],
        mcp: 'with_users_own',
        folderTrusted: false,
        fork: null,
        history: null,
        policy: {
          rules: () => ({ mode: 'ask', allowKinds: [], allowMcpServers: [], unattended: true }),
          decide: () => Promise.resolve({ allow: false, by: 'policy', reason: null }),
          told: () => undefined,
        },
        refusals: { record: () => undefined },
        scope: { runId: 'run', workerId, workDir: dir.at('work'), privateDir, socketDir: privateDir, confine: null },
        privateDir,
        token: null,
        onStarted: () => Promise.resolve(),
        redaction: { secrets: [], env: {}, dirs: [] },
      }
    },
    async [Symbol.asyncDispose]() {
      await workers.closeAll({ closeStdinMs: 0, termGraceMs: 0 })
      dir[Symbol.dispose]()
    },
  }
}

export const never = new AbortController().signal
