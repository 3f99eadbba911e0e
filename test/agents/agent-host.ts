/** The whole product round a real agent: host, router, scripted model server and browser, in folders of their own. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import type { Locator, Page } from 'playwright-core'
import type { SessionView } from '../../src/shared/bridge/index.ts'
import type { RunView } from '../../src/shared/projection/index.ts'
import { openApp } from '../e2e/support/app.ts'
import type { OpenedApp } from '../e2e/support/app.ts'
import { prompt } from '../e2e/support/walk.ts'
import { createTempDir } from '../support/dir.ts'
import { AGENT_PATH } from './installed.ts'
import { watchFrames } from './page-frames.ts'
import type { PageFrames } from './page-frames.ts'
import { ofWorkers } from './processes.ts'
import { startUpstream } from './upstream.ts'
import type { Upstream, UpstreamTurn } from './upstream.ts'

/** The connection's key, as no other text on this machine reads. */
export const KEY = 'sk-key-of-the-connection-that-only-the-upstream-may-see'
export const MODEL = 'fake-large'

/** What a slow machine may take for one step of an agent. */
const STEP_MS = 60_000

export interface AgentHost extends AsyncDisposable {
  readonly app: OpenedApp
  readonly page: Page
  readonly frames: PageFrames
  readonly call: OpenedApp['call']
  readonly upstream: Upstream
  readonly session: SessionView
  readonly home: string
  readonly dataDir: string
  readonly workDir: string
  /** What the agent and a plain shell of the same person are given. */
  readonly env: Readonly<Record<string, string>>
  /** The turn that was asked for by this prompt. */
  turn(text: string): Locator
  /** Waits until the foot of that turn says so. */
  ended(text: string, state: string): Promise<void>
  /** The session's runs, oldest first. */
  runs(): Promise<RunView[]>
  /** Every worker that was ever started here. */
  workerIds(): string[]
  /** The agent's own id of the session's conversation. */
  agentSessionId(): string
  /** Digests of the open routes' ids, as they are stored. */
  routeDigests(): string[]
}

export interface AgentHostOptions {
  agent: 'codex' | 'claude'
  turns?: readonly UpstreamTurn[]
  /** Files of the person's own, by their path below their home. */
  homeFiles?: Readonly<Record<string, string>>
  /** Files of the project, by their path below it. */
  projectFiles?: Readonly<Record<string, string>>
  env?(home: string): Readonly<Record<string, string>>
}

/** Opens the interface on a session of an agent whose connection leads to the scripted model server. */
export async function createAgentHost(options: AgentHostOptions): Promise<AgentHost> {
  const { agent, turns = [], homeFiles = {}, projectFiles = {} } = options
  await using undo = new AsyncDisposableStack()
  const dir = undo.use(createTempDir())
  const home = dir.at('home')
  const dataDir = dir.at('data')
  const workDir = dir.at('project')
  for (const folder of [home, dataDir, workDir]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  putFiles(home, homeFiles)
  putFiles(workDir, projectFiles)
  const env = { HOME: home, PATH: AGENT_PATH, LANG: 'C.UTF-8', USER: 'tester', ...options.env?.(home) }
  const upstream = undo.use(await startUpstream(dir.at('upstream'), [...turns]))

  const database = `${dataDir}/wheelhouse.db`
  const column = (sql: string): string[] => {
    const db = new Database(database, { readonly: true })
    try {
      return db
        .prepare(sql)
        .pluck()
        .all()
        .map((value) => String(value))
    } finally {
      db.close()
    }
  }
  const workerIds = (): string[] => column('SELECT worker_id FROM worker_records')

  /** What has to be ended here does not go unsaid. */
  function endWhatIsLeft(): void {
    const left = existsSync(database) ? ofWorkers(workerIds()) : []
    for (const { pid } of left) process.kill(pid, 'SIGKILL')
    if (left.length > 0) throw new Error(`left alive: ${left.map(({ pid, argv }) => `${pid} ${argv}`).join(', ')}`)
  }

  // No keychain of the person who runs the tests is written to.
  const app = await openApp('browser', { home: dataDir, env: { ...env, DBUS_SESSION_BUS_ADDRESS: 'disabled:' } })
  undo.defer(async () => {
    await app.stop()
    endWhatIsLeft()
  })
  const { page, call } = app
  page.setDefaultTimeout(STEP_MS)
  const connectionId = await connect(call, upstream, agent)
  const session = await call('sessions.create', {
    agentId: agent,
    workDir,
    choice: { connectionId, modelId: MODEL, effort: 'default' },
  })
  // Connected, so that no socket of this load is taken for one of the next.
  await page.locator(`[data-session="${session.id}"]`).waitFor()
  const frames = watchFrames(page)
  await page.reload()
  await page.locator(`[data-session="${session.id}"]`).click()
  await prompt(page).waitFor()

  const turn = (text: string): Locator => page.getByRole('article', { name: `Turn: ${text}` })
  const all = undo.move()
  return {
    app,
    page,
    frames,
    call,
    upstream,
    session,
    home,
    dataDir,
    workDir,
    env,
    turn,
    ended: (text, state) => turn(text).locator('footer').getByText(state, { exact: true }).first().waitFor(),
    runs: async () => (await call('sessions.snapshot', { sessionId: session.id })).turns,
    workerIds,
    agentSessionId: () => column('SELECT agent_session_id FROM agent_sessions')[0] ?? 'none',
    routeDigests: () => column('SELECT digest FROM routes'),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

function putFiles(below: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(`${below}/${name}`), { recursive: true, mode: 0o700 })
    writeFileSync(`${below}/${name}`, text, { mode: 0o600 })
  }
}

async function connect(call: OpenedApp['call'], { port }: Upstream, client: 'codex' | 'claude'): Promise<string> {
  const { revision } = await call('providers.list', {})
  const { connectionId } = await call('providers.upsert', {
    connection: {
      name: 'Scripted',
      client,
      preset: 'custom',
      // Claude Code's dialect has the version in its paths.
      baseUrl: `http://127.0.0.1:${port}${client === 'codex' ? '/v1' : ''}`,
      manualModelId: MODEL,
    },
    key: KEY,
    expectedRevision: revision,
  })
  if (connectionId === null) throw new Error('the connection was not made')
  return connectionId
}
