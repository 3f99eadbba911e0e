/** A session of a fake agent, with everything that it is given and all that it left behind within reach of a test. */
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { z } from 'zod'
import { createIds, createSecretRegistry, createSystemClock } from '../../../src/main/platform/index.ts'
import type { Clock } from '../../../src/main/platform/types.ts'
import type { DriverFactory } from '../../../src/main/workers/drivers/shared/types.ts'
import { createSupervisor } from '../../../src/main/workers/supervisor.ts'
import type {
  ContentItem,
  DriverName,
  PermissionDecision,
  PermissionMode,
  PermissionRequest,
  PermissionRules,
  ProcessIdentity,
  ProcessTable,
  Refusal,
  Session,
  SessionConfig,
  Workers,
} from '../../../src/main/workers/index.ts'
import { buildEnv, createPlatformTable } from '../../../src/main/workers/index.ts'
import type { Prompt } from '../../../src/shared/vocabulary.ts'
import { createTempDir } from '../../support/dir.ts'
import { createMemoryLog } from '../../support/log.ts'
import type { MemoryLog } from '../../support/log.ts'

const marks = new Set<string>()

/** Whatever a case did: no process of any worker of this file is left. */
afterAll(async () => {
  await until('nothing of the workers is left', () => processesOf(marks).length === 0)
})

/** The pids that carry the mark of one of these workers. Linux. */
function processesOf(workerIds: ReadonlySet<string>): string[] {
  const pids = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  return pids.filter((pid) => {
    try {
      const mark = /(?:^|\0)WHEELHOUSE_WORKER=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1]
      // A zombie has no environment any more.
      return mark !== undefined && workerIds.has(mark)
    } catch {
      return false
    }
  })
}

/** What a driver's tests need to know of it; all cases of `describeDriverConformance` run on it. */
export interface DriverFixture {
  name: DriverName
  factory: DriverFactory
  /** Below test/fixtures/agents. */
  script: string
  /** What the fake is started as, below the test's `bin` folder. */
  program: string
  configure(cfg: SessionConfig, program: string): SessionConfig
  /** Reads the client's side of the wire. */
  isPrompt(line: WireLine): boolean
  isCancel(line: WireLine): boolean
  /** An answer to a permission, whatever it says. */
  isAnswer(line: WireLine): boolean
  isAllow(line: WireLine): boolean
  /** A session id that the fake knows, and a form that no id of it has. */
  known: string
  malformed: string
  /** The environment that the driver adds by itself. */
  ownEnv: Readonly<Record<string, string>>
  /** When a wrong mode shows. */
  modeProof: 'before_prompt' | 'first_prompt'
}

const WireLine = z.record(z.string(), z.unknown())
export type WireLine = z.infer<typeof WireLine>

const Report = z.object({
  argv: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  cwd: z.string(),
  pid: z.number(),
  pgid: z.number(),
  sid: z.number(),
  children: z.array(z.number()),
  wire: z.array(WireLine),
  terms: z.number(),
})
export type Report = z.infer<typeof Report>

export interface HarnessOptions {
  scenario: string
  mode?: PermissionMode
  rules?: Partial<PermissionRules>
  /** Default: refuses as a person would. */
  decide?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionDecision>
  env?: Readonly<Record<string, string>>
  change?: (cfg: SessionConfig) => SessionConfig
  processes?: ProcessTable
  clock?: Clock
}

export interface Harness extends AsyncDisposable {
  workers: Workers
  table: ProcessTable
  cfg: SessionConfig
  log: MemoryLog
  content: ContentItem[]
  refusals: Refusal[]
  requests: PermissionRequest[]
  told: [requestId: string, how: string][]
  started: ProcessIdentity[]
  /** Runs on each refusal, before its answer is written. */
  onRefusal: (() => void) | null
  dir: string
  open(load?: string, signal?: AbortSignal): Promise<Session>
  report(): Report
  /** What the fake was inherited, by descriptor: number and target. */
  descriptors(): string[]
  openGate(): void
}

export const allow: PermissionDecision = { allow: true, by: 'person', reason: null }
export const refuse: PermissionDecision = { allow: false, by: 'person', reason: null }
export const clock = createSystemClock()
const ids = createIds()

export function prompt(text: string, more: Partial<Prompt> = {}): Prompt {
  return { text, inputs: [], clientMessageId: ids.next(), literal: false, ...more }
}

export function createHarness(fixture: DriverFixture, options: HarnessOptions): Harness {
  const temp = createTempDir()
  const dir = temp.path
  const workerId = ids.next()
  marks.add(workerId)
  const log = createMemoryLog()
  const table = createPlatformTable(clock)
  const content: ContentItem[] = []
  const refusals: Refusal[] = []
  const requests: PermissionRequest[] = []
  const told: [string, string][] = []
  const started: ProcessIdentity[] = []

  for (const folder of ['bin', 'work', 'home', 'workers']) mkdirSync(temp.at(folder), { mode: 0o700 })
  const privateDir = temp.at('workers', workerId)
  mkdirSync(privateDir, { mode: 0o700 })
  const program = temp.at('bin', fixture.program)
  const script = fileURLToPath(new URL(`../../fixtures/agents/${fixture.script}`, import.meta.url))
  // The shell tells its descriptors before Node adds its own to them.
  writeFileSync(
    program,
    `#!/bin/sh\n(ls -l /proc/$$/fd > '${temp.at('fds')}' 2>/dev/null)\nexec '${process.execPath}' '${script}' "$@"\n`,
  )
  chmodSync(program, 0o700)

  const workers = createSupervisor(
    {
      clock: options.clock ?? clock,
      ids,
      log,
      paths: { workers: temp.at('workers') },
      secrets: createSecretRegistry(),
      hostEnv: () => undefined,
      ...(options.processes === undefined ? {} : { processes: options.processes }),
    },
    [fixture.factory],
  )
  const rules: PermissionRules = {
    mode: options.mode ?? 'ask',
    allowKinds: [],
    allowMcpServers: [],
    unattended: false,
    ...options.rules,
  }
  const env = buildEnv([], (name) => (name === 'PATH' ? `${temp.at('bin')}:/usr/bin:/bin` : undefined), {
    HOME: temp.at('home'),
    FAKE: options.scenario,
    FAKE_REPORT: temp.at('report.json'),
    FAKE_GATE: temp.at('gate'),
    ...options.env,
  })
  const harness: Omit<Harness, 'cfg'> = {
    workers,
    table,
    log,
    content,
    refusals,
    requests,
    told,
    started,
    onRefusal: null,
    dir,
    open: (load, signal) =>
      workers.open(fixture.name, cfg, load === undefined ? {} : { load }, signal ?? new AbortController().signal),
    report: () => Report.parse(JSON.parse(readFileSync(temp.at('report.json'), 'utf8'))),
    descriptors: () =>
      readFileSync(temp.at('fds'), 'utf8')
        .split('\n')
        .filter((line) => line.includes(' -> ') && !line.includes(program))
        .map((line) => line.replace(/^.* (\d+) -> /, '$1 ')),
    openGate: () => writeFileSync(temp.at('gate'), ''),
    async [Symbol.asyncDispose]() {
      try {
        await workers.closeAll({ closeStdinMs: 0, termGraceMs: 0, confirmMs: 5_000 })
        const left = (await table.marked(workerId)) ?? []
        for (const { pid } of left) process.kill(pid, 'SIGKILL')
        if (left.length > 0) throw new Error(`left alive: ${left.map(({ pid }) => pid).join(', ')}`)
      } finally {
        temp[Symbol.dispose]()
      }
    },
  }
  const made: SessionConfig = {
    workerId,
    cwd: temp.at('work'),
    addDirs: [],
    env,
    route: null,
    mcpServers: [],
    mcp: 'with_users_own',
    folderTrusted: false,
    fork: null,
    history: null,
    policy: {
      rules: () => rules,
      decide(request, signal) {
        requests.push(request)
        return options.decide?.(request, signal) ?? Promise.resolve(refuse)
      },
      told: (requestId, how) => void told.push([requestId, how]),
    },
    refusals: {
      record(refusal) {
        refusals.push(refusal)
        harness.onRefusal?.()
      },
    },
    scope: { runId: ids.next(), workerId, workDir: temp.at('work'), privateDir, socketDir: privateDir, confine: null },
    privateDir,
    token: null,
    onStarted(process) {
      started.push(process)
      return Promise.resolve()
    },
    redaction: { secrets: [], env: {}, dirs: [] },
    content: { write: (item) => void content.push(item) },
  }
  const configured = fixture.configure(made, program)
  const cfg = options.change?.(configured) ?? configured
  return Object.assign(harness, { cfg })
}

/** Resolves when `test` holds; fails loudly after ten seconds. */
export async function until(what: string, test: () => boolean | Promise<boolean>): Promise<void> {
  for (let left = 500; left > 0; left--) {
    if (await test()) return
    await clock.sleep(20)
  }
  throw new Error(`never happened: ${what}`)
}

export async function isAlive(table: ProcessTable, pid: number): Promise<boolean> {
  return (await table.lookup(pid)) !== null
}

/** The error that a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<{ code: string; started?: string; message: string }> {
  try {
    await promise
  } catch (error) {
    if (error instanceof Error && 'code' in error) {
      const started = 'started' in error ? { started: String(error.started) } : {}
      return { code: String(error.code), message: error.message, ...started }
    }
    throw error
  }
  throw new Error('it did not fail')
}

export function hasReport(harness: Harness): boolean {
  return existsSync(`${harness.dir}/report.json`)
}
