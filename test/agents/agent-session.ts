/** A session of a real agent against the scripted model server, in folders of its own. */
import { mkdirSync } from 'node:fs'
import { createIds, createSecretRegistry, createSystemClock } from '../../src/main/platform/index.ts'
import type { DriverFactory } from '../../src/main/workers/drivers/shared/types.ts'
import { buildEnv, createPlatformTable } from '../../src/main/workers/index.ts'
import type {
  AgentProfile,
  ContentItem,
  DriverName,
  PermissionDecision,
  PermissionRequest,
  PermissionRules,
  Refusal,
  RoutePlan,
  Session,
  SessionConfig,
  Workers,
} from '../../src/main/workers/index.ts'
import { createSupervisor } from '../../src/main/workers/supervisor.ts'
import type { Prompt } from '../../src/shared/vocabulary.ts'
import { createTempDir } from '../support/dir.ts'
import { createMemoryLog } from '../support/log.ts'
import { AGENT_PATH } from './installed.ts'
import { startUpstream } from './upstream.ts'
import type { Upstream, UpstreamTurn } from './upstream.ts'

export const ROUTE_ID = 'r0ute-1d-of-a-test-0123456789abcdefghijklmno'
const clock = createSystemClock()
const ids = createIds()

/** What is particular to one agent. */
export interface RigAgent {
  driver: DriverName
  factory: DriverFactory
  profile?: AgentProfile
  env(home: string): Readonly<Record<string, string>>
  /** `dir`: for files that the route points at. */
  route(upstream: Upstream, dir: string): RoutePlan
}

export interface AgentRig extends AsyncDisposable {
  workers: Workers
  upstream: Upstream
  cfg: SessionConfig
  content: ContentItem[]
  refusals: Refusal[]
  requests: PermissionRequest[]
  told: [requestId: string, how: string][]
  dir: string
  cwd: string
  home: string
  open(load?: string, change?: (cfg: SessionConfig) => SessionConfig): Promise<Session>
  /** What the agent said, put together. */
  said(): string
}

export interface RigOptions {
  turns?: UpstreamTurn[]
  rules?: Partial<PermissionRules>
  decide?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionDecision>
  env?: Record<string, string>
  change?: (cfg: SessionConfig) => SessionConfig
}

export const allow: PermissionDecision = { allow: true, by: 'person', reason: null }
export const refuse: PermissionDecision = { allow: false, by: 'person', reason: null }

export function prompt(text: string, more: Partial<Prompt> = {}): Prompt {
  return { text, inputs: [], clientMessageId: ids.next(), literal: false, ...more }
}

/** Resolves when `test` holds; fails loudly after sixty seconds. */
export async function until(what: string, test: () => boolean | Promise<boolean>): Promise<void> {
  for (let left = 1_200; left > 0; left--) {
    if (await test()) return
    await clock.sleep(50)
  }
  throw new Error(`never happened: ${what}`)
}

export async function createAgentRig(agent: RigAgent, options: RigOptions = {}): Promise<AgentRig> {
  const temp = createTempDir()
  for (const folder of ['work', 'home', 'workers', 'route'])
    mkdirSync(temp.at(folder), { recursive: true, mode: 0o700 })
  const upstream = await startUpstream(temp.at('upstream'), options.turns ?? [])
  const content: ContentItem[] = []
  const refusals: Refusal[] = []
  const requests: PermissionRequest[] = []
  const told: [string, string][] = []
  const table = createPlatformTable(clock)
  const marks: string[] = []
  const workers = createSupervisor(
    {
      clock,
      ids,
      log: createMemoryLog(),
      paths: { workers: temp.at('workers') },
      secrets: createSecretRegistry(),
      hostEnv: () => undefined,
    },
    [agent.factory],
  )
  const rules: PermissionRules = {
    mode: 'ask',
    allowKinds: [],
    allowMcpServers: [],
    unattended: false,
    ...options.rules,
  }
  const route = agent.route(upstream, temp.at('route'))

  async function configure(): Promise<SessionConfig> {
    const workerId = ids.next()
    marks.push(workerId)
    const privateDir = await workers.privateDir(workerId)
    return {
      workerId,
      cwd: temp.at('work'),
      addDirs: [],
      env: buildEnv([], () => undefined, {
        HOME: temp.at('home'),
        PATH: AGENT_PATH,
        LANG: 'C.UTF-8',
        ...agent.env(temp.at('home')),
        ...options.env,
      }),
      route,
      ...(agent.profile === undefined ? {} : { profile: agent.profile }),
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
      refusals: { record: (refusal) => void refusals.push(refusal) },
      scope: {
        runId: ids.next(),
        workerId,
        workDir: temp.at('work'),
        privateDir,
        socketDir: privateDir,
        confine: null,
      },
      token: null,
      privateDir,
      onStarted: () => Promise.resolve(),
      redaction: { secrets: [], env: {}, dirs: [] },
      content: { write: (item) => void content.push(item) },
    }
  }
  const made = await configure()
  const cfg = options.change?.(made) ?? made

  return {
    workers,
    upstream,
    cfg,
    content,
    refusals,
    requests,
    told,
    dir: temp.path,
    cwd: temp.at('work'),
    home: temp.at('home'),
    async open(load, change) {
      const fresh = marks.length === 1 && change === undefined && load === undefined ? cfg : await configure()
      const given = change?.(fresh) ?? options.change?.(fresh) ?? fresh
      return workers.open(agent.driver, given, load === undefined ? {} : { load }, new AbortController().signal)
    },
    said: () => content.map((item) => (item.kind === 'text' && item.role === 'agent' ? item.text : '')).join(''),
    async [Symbol.asyncDispose]() {
      try {
        await workers.closeAll({ closeStdinMs: 2_000, termGraceMs: 500, confirmMs: 5_000 })
        const left = (await Promise.all(marks.map(async (mark) => (await table.marked(mark)) ?? []))).flat()
        for (const { pid } of left) process.kill(pid, 'SIGKILL')
        if (left.length > 0) throw new Error(`left alive: ${left.map(({ pid }) => pid).join(', ')}`)
      } finally {
        await upstream[Symbol.asyncDispose]()
        temp[Symbol.dispose]()
      }
    },
  }
}
