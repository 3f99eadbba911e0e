/** A session of the real Codex against the scripted model server, in folders of its own. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createIds, createSecret, createSecretRegistry, createSystemClock } from '../../src/main/platform/index.ts'
import { createCodexDriver } from '../../src/main/workers/drivers/codex/index.ts'
import { buildEnv, createPlatformTable } from '../../src/main/workers/index.ts'
import type {
  ContentItem,
  PermissionDecision,
  PermissionRequest,
  PermissionRules,
  Refusal,
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

export interface CodexRig extends AsyncDisposable {
  workers: Workers
  upstream: Upstream
  cfg: SessionConfig
  content: ContentItem[]
  refusals: Refusal[]
  requests: PermissionRequest[]
  told: [requestId: string, how: string][]
  dir: string
  cwd: string
  codexHome: string
  open(load?: string, change?: (cfg: SessionConfig) => SessionConfig): Promise<Session>
  /** What the agent said, put together. */
  said(): string
  userConfig(): string
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

/** Resolves when `test` holds; fails loudly after twenty seconds. */
export async function until(what: string, test: () => boolean | Promise<boolean>): Promise<void> {
  for (let left = 400; left > 0; left--) {
    if (await test()) return
    await clock.sleep(50)
  }
  throw new Error(`never happened: ${what}`)
}

export async function createCodexRig(options: RigOptions = {}): Promise<CodexRig> {
  const temp = createTempDir()
  for (const folder of ['work', 'home/.codex', 'workers']) mkdirSync(temp.at(folder), { recursive: true, mode: 0o700 })
  const codexHome = temp.at('home/.codex')
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
    [createCodexDriver],
  )
  const rules: PermissionRules = {
    mode: 'ask',
    allowKinds: [],
    allowMcpServers: [],
    unattended: false,
    ...options.rules,
  }
  const catalog = temp.at('catalog.json')
  writeFileSync(catalog, JSON.stringify({ models: ['fake-large', 'fake-small'].map(catalogEntry) }))

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
        CODEX_HOME: codexHome,
        ...options.env,
      }),
      route: {
        argv: [
          '-c',
          'cli_auth_credentials_store="ephemeral"',
          '-c',
          'forced_login_method="api"',
          '-c',
          'features.enable_request_compression=false',
          '-c',
          'features.plugins=false',
          '-c',
          'analytics.enabled=false',
          '-c',
          `model_catalog_json=${JSON.stringify(catalog)}`,
        ],
        config: {
          model_provider: 'openai',
          openai_base_url: `http://127.0.0.1:${upstream.port}/v1`,
          model: 'fake-large',
        },
        key: createSecret(ROUTE_ID),
        envSet: { NO_PROXY: '127.0.0.1,localhost,::1', no_proxy: '127.0.0.1,localhost,::1' },
        envUnset: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'OPENAI_BASE_URL'],
      },
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
      scope: { runId: ids.next(), workerId, workDir: temp.at('work'), privateDir, confine: null },
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
    codexHome,
    async open(load, change) {
      const fresh = marks.length === 1 && change === undefined && load === undefined ? cfg : await configure()
      const given = change?.(fresh) ?? options.change?.(fresh) ?? fresh
      return workers.open('codex', given, load === undefined ? {} : { load }, new AbortController().signal)
    },
    said: () => content.map((item) => (item.kind === 'text' && item.role === 'agent' ? item.text : '')).join(''),
    userConfig() {
      try {
        return readFileSync(`${codexHome}/config.toml`, 'utf8')
      } catch {
        return ''
      }
    },
    async [Symbol.asyncDispose]() {
      try {
        await workers.closeAll({ closeStdinMs: 2_000, termGraceMs: 500, confirmMs: 5_000 })
        const left = (await Promise.all(marks.map((mark) => table.marked(mark)))).flat()
        for (const { pid } of left) process.kill(pid, 'SIGKILL')
        if (left.length > 0) throw new Error(`left alive: ${left.map(({ pid }) => pid).join(', ')}`)
      } finally {
        await upstream[Symbol.asyncDispose]()
        temp[Symbol.dispose]()
      }
    },
  }
}

/** The smallest entry that Codex reads, with a shell and apply_patch. */
function catalogEntry(slug: string, priority: number): Record<string, unknown> {
  return {
    slug,
    display_name: slug,
    supported_reasoning_levels: ['low', 'medium', 'high'].map((effort) => ({ effort, description: effort })),
    default_reasoning_level: 'medium',
    shell_type: 'shell_command',
    visibility: 'list',
    supported_in_api: true,
    priority,
    base_instructions: 'You are a scripted model.',
    supports_reasoning_summaries: true,
    default_reasoning_summary: 'auto',
    support_verbosity: false,
    apply_patch_tool_type: 'freeform',
    truncation_policy: { mode: 'bytes', limit: 10_000 },
    experimental_supported_tools: [],
    context_window: 200_000,
  }
}
