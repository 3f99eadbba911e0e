import { homedir } from 'node:os'
import { join } from 'node:path'
import { createBridgeServer, createHandlers, createSources, createViews } from './bridge/index.ts'
import type { BridgeServer, ConnectionInfo, ShellPort } from './bridge/index.ts'
import { createPlaces } from './deliveries/index.ts'
import {
  createAgentExecutor,
  createAgents,
  createFolderTrust,
  createMcpServers,
  createOwnAgents,
  createPreflights,
  bundledCodexModels,
  codexRules,
  createProviderSwitch,
  createSessionRuntimes,
  executorMigrations,
  suggestedAgents,
  whyNotConfined,
} from './executor/index.ts'
import { diagnosticFacts } from './diagnostic-facts.ts'
import { exportDiagnostics } from './diagnostics/index.ts'
import type { BridgeProgram } from './executor/index.ts'
import { checkHealth } from './health.ts'
import { openInstallation } from './installation.ts'
import type { Installation } from './installation.ts'
import { isTestBuild, openPlatform, withDeadline } from './platform/index.ts'
import type { FrameConnection, OpenPlatform } from './platform/index.ts'
import { createProviders, providerMigrations } from './providers/index.ts'
import type { Providers } from './providers/index.ts'
import { createRehearsal } from './rehearsal/index.ts'
import { createRuntime, runtimeMigrations } from './runtime/index.ts'
import type { Runtime } from './runtime/index.ts'
import { createSchedules, scheduleMigrations } from './schedules/index.ts'
import { createFiringPort } from './schedules-port.ts'
import {
  BASE_ENV,
  buildEnv,
  createBubblewrapLauncher,
  createWorkers,
  doorsOut,
  loginShellPath,
} from './workers/index.ts'
import { APP_VERSION } from './version.ts'

export interface HostOptions {
  /** Its lock is held by the caller. */
  dataDir: string
  /** The built entries beside this one: where `agent.js` lies. */
  entryDir: string
  env: Readonly<Record<string, string | undefined>>
  /** It ends with one command: what lasts, such as takeovers, is left as it is, and nothing is started by the clock. */
  brief?: boolean
  /** A start by the desktop has a bare PATH: the login shell is asked for the person's own. */
  askLoginShell?: boolean
  /** The stop could not give back an agent's config file, or not record that it did. Nothing shows it after that. */
  onLeft?: (error: unknown) => void
}

export interface Host {
  readonly platform: OpenPlatform
  readonly installation: Installation
  readonly runtime: Runtime
  readonly providers: Providers
  /** Serves the bridge on this connection. */
  attach(connection: FrameConnection, kind: ConnectionInfo['kind']): ConnectionInfo
  /** Those that are open. */
  connections(): readonly ConnectionInfo[]
  /** What a window can do here that a browser cannot. Until it is set, nothing is shown and nothing is picked. */
  setShell(shell: ShellPort): void
  /** In reverse order of the start, 15 s in all. What could not be settled stays HELD on record. A second call waits. */
  stop(): Promise<void>
}

const MEBIBYTE = 1_048_576
const MINUTE_MS = 60_000

/** The schema of a whole host: what the database of a data folder is brought up to, system after system. */
export const hostMigrations = [
  ...runtimeMigrations,
  ...executorMigrations,
  ...providerMigrations,
  ...scheduleMigrations,
]

/** Together under the 15 s that a stop may take. */
const STOP_MS = { runs: 6_000, workers: 6_000, ends: 1_000, providers: 1_500 } as const
const REHEARSAL_NAME = 'Rehearsal'
const NO_SHELL: ShellPort = {
  kind: 'cli',
  activate: () => Promise.resolve({ url: null }),
  pickFolder: null,
  notify: () => null,
}

/**
 * The composition root: builds the systems over one data folder, hands each what it needs of the others, and starts them
 * in order. Recovery goes on behind the open window.
 */
export async function createHost(options: HostOptions): Promise<Host> {
  // What was opened before a start failed is closed again, so that the process can end.
  await using undo = new AsyncDisposableStack()
  const host = await buildHost(options, undo)
  undo.move()
  return host
}

async function buildHost(options: HostOptions, undo: AsyncDisposableStack): Promise<Host> {
  const { env } = options
  let loginPath: string | null = null
  const hostEnv = (name: string): string | undefined => (name === 'PATH' ? (loginPath ?? env[name]) : env[name])
  const askLoginShell = async (): Promise<void> => {
    loginPath = await loginShellPath(buildEnv(BASE_ENV, (name) => env[name], {}))
  }
  const environment = options.askLoginShell === true ? askLoginShell() : Promise.resolve()
  const platform = await openPlatform({
    dataDir: options.dataDir,
    migrations: hostMigrations,
    testFailpoints: isTestBuild(env),
    env,
  })
  undo.defer(() => platform.close())
  const { clock, ids, log, paths, store, settings } = platform
  const installation = await openInstallation(platform)

  const rehearsal = createRehearsal({ clock, ids, log })
  let rehearsalOrigin: string | null = null
  const providers = createProviders({
    ...platform,
    environment: () => env,
    rehearsalOrigin: () => rehearsalOrigin,
    bodyCapBytes: () => settings.get('requestBodyCapMiB') * MEBIBYTE,
    gateway: {
      port: () => settings.get('gatewayPort'),
      keepTakeover: () => settings.get('keepTakeoverOnQuit'),
      resume: options.brief !== true,
      home: env['HOME'] ?? homedir(),
      onLeft: options.onLeft,
    },
    upstreamProxy: () => settings.get('upstreamProxy'),
    inspectsRequests: () => settings.get('requestInspector'),
    async bundledCodexModels(signal) {
      await environment
      return bundledCodexModels({ log, hostEnv }, signal)
    },
  })
  rehearsalOrigin = (await rehearsal.start()).origin
  undo.defer(() => rehearsal.stop())
  const starting = new AbortController()
  await providers.start(starting.signal)
  undo.defer(() => providers.stop())
  settings.subscribe(({ requestInspector }) => {
    if (!requestInspector) providers.forgetRequests()
  })
  await ensureRehearsal(providers, log)

  const workers = createWorkers({ ...platform, hostEnv })
  const ownAgents = createOwnAgents({ store, clock })
  const agents = createAgents({
    own: ownAgents,
    claudeHome: env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? homedir(), '.claude'),
    builtin: {
      command: process.execPath,
      script: join(options.entryDir, 'agent.js'),
      home: join(paths.dataDir, 'agent'),
    },
  })
  const sandbox = createBubblewrapLauncher({
    clock,
    path: () => hostEnv('PATH'),
    stateDir: paths.dataDir,
    doors: [paths.hostSocket, ...doorsOut(env, process.getuid?.() ?? 0)],
  })
  const mcp = createMcpServers({ ...platform, secretStore: providers.slots('mcp') })
  const trust = createFolderTrust({ clock, log, store, hostEnv })
  const executor = createAgentExecutor({
    clock,
    ids,
    log,
    paths,
    store,
    workers,
    providers,
    agents,
    mcp,
    trust,
    sandbox,
    bridge: bridgeProgram(options.entryDir),
    artifacts: { publish: (request, signal) => runtime.artifacts.publish(request, signal) },
    hostEnv,
    environment,
  })
  const reaper = executor.startReaping()

  const presets = new Map<string, string>()
  const readPresets = async (): Promise<void> => {
    if (providers.failure() !== null) return
    presets.clear()
    for (const connection of (await providers.catalog()).connections) presets.set(connection.id, connection.preset)
  }
  await readPresets()
  const forgetPresets = providers.onChange(() => {
    readPresets().catch((error: unknown) => log.warn('the connections could not be read again', { error }))
  })

  const runtimes = createSessionRuntimes({
    store,
    agents,
    providers,
    executor,
    runtime: () => runtime,
    presetOf: (connectionId) => presets.get(connectionId) ?? null,
  })
  let shell: ShellPort = NO_SHELL
  const places = createPlaces({
    ...platform,
    store: providers.slots('delivery'),
    notify: () => shell.notify(),
    titleOf: (sessionId) => runtime.sessions.get(sessionId).title,
    namedBy: (sessionId) => schedules.deliverTo(sessionId),
  })
  undo.defer(() => places.stop())
  const runtime: Runtime = createRuntime({
    ...platform,
    executor,
    deliveries: places.port,
    isHeld: executor.isHeld,
    osEnabled: () => settings.get('osModeEnabled'),
    slots: settings.get('runsAtOnce'),
    unattendedDecisionMs: () => settings.get('unattendedAnswerMinutes') * MINUTE_MS,
    // A catalog that cannot be read says nothing of any.
    isProvider: (connectionId) => providers.failure() !== null || providers.hasConnection(connectionId),
    choices: { set: runtimes.set },
    resources: {
      resolve({ workDir }) {
        const offered = mcp.offered(workDir)
        const required = offered.filter((server) => server.required)
        const names = (servers: typeof offered): string[] => servers.map(({ name }) => name)
        return Promise.resolve({ skills: [], mcpServers: names(offered), mcpRequired: names(required) })
      },
    },
  })
  const providerSwitch = createProviderSwitch({ clock, ids, log, store, providers, executor, runtime: () => runtime })
  const schedules = createSchedules({
    clock,
    ids,
    log,
    store,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    port: createFiringPort(runtime, runtimes),
  })
  const preflights = createPreflights({ ids, agents, workers, hostEnv, environment })
  const views = createViews({ runtime, executor, runtimes, agents })

  const sources = createSources({
    clock,
    log,
    runtime,
    executor,
    runtimes,
    providers,
    settings,
    places,
    schedules,
    trust,
    views,
  })
  const health = (of: { agents: boolean }, signal: AbortSignal) =>
    checkHealth({ platform, providers, preflights }, of, signal)
  const bridge: BridgeServer = createBridgeServer({
    clock,
    ids,
    log,
    handlers: createHandlers({
      platform,
      runtime,
      executor,
      preflights,
      ownAgents,
      async suggestedAgents() {
        await environment
        return suggestedAgents(ownAgents, hostEnv('PATH'))
      },
      whyNotConfined: (agentId, choice) => whyNotConfined(sandbox, agents.get(agentId), choice),
      codexRules: () => codexRules(env['CODEX_HOME'] || join(env['HOME'] ?? homedir(), '.codex')),
      mcp,
      trust,
      views,
      runtimes,
      providerSwitch,
      providers,
      places,
      schedules,
      shell: () => shell,
      health,
      diagnostics: (signal) =>
        exportDiagnostics(
          {
            clock,
            secrets: platform.secrets,
            readLog: platform.readLog,
            health: (signal) => health({ agents: true }, signal),
            facts: () => diagnosticFacts({ runtime, executor, providers, settings, version: APP_VERSION }),
          },
          signal,
        ),
      app: { version: APP_VERSION, homeDir: homedir() },
    }),
    sources: sources.sources,
    app: { version: APP_VERSION, installation: installation.id, capabilities: [] },
  })

  const { firstScan } = runtime.start()
  void places.sweep()
  void mcp.sweep()
  void firstScan
    .then(
      (found) => log.info('the first recovery scan is done', { ...found }),
      // The coordinator scans again by itself, whatever became of this one.
      (error: unknown) => log.warn('the first recovery scan did not get through; a later scan follows', { error }),
    )
    // Not before: a session whose run was cut by a crash would refuse what is due.
    .then(() => options.brief !== true && schedules.start())
  void reaper.done.then(
    () => runtime.recovery.wake(),
    (error: unknown) => log.error('earlier workers could not be settled', { error }),
  )
  // A switch of all sessions that a crash cut in two is carried on before anybody can see the half.
  await providerSwitch
    .recover()
    .catch((error: unknown) => log.error('a switch of Providers could not be carried on', { error }))

  /** One step of the stop, within its part of the 15 s; what it leaves is on record and found by the next start. */
  const within = async (what: string, ms: number, step: Promise<unknown>): Promise<void> => {
    try {
      await withDeadline(clock, ms, undefined, () => step)
    } catch (error) {
      log.error('a part of the host did not stop in time', { what, error })
    }
  }
  let stopping: Promise<void> | null = null
  const stop = async (): Promise<void> => {
    bridge.stop()
    sources.stop()
    forgetPresets()
    starting.abort()
    await schedules.stop()
    const runs = runtime.stop()
    await within('runs', STOP_MS.runs, runs)
    await within('workers', STOP_MS.workers, executor.stop())
    // The ends of runs whose agents had to be taken away are written now.
    await within('ends', STOP_MS.ends, runs)
    await within('providers', STOP_MS.providers, Promise.all([providers.stop(), rehearsal.stop(), places.stop()]))
    await platform.close()
  }

  return {
    platform,
    installation,
    runtime,
    providers,
    attach: bridge.attach,
    connections: bridge.connections,
    setShell(next) {
      shell = next
    },
    stop: () => (stopping ??= stop()),
  }
}

/** The MCP bridge lies beside the other entries. */
function bridgeProgram(entryDir: string): BridgeProgram {
  return { command: process.execPath, script: join(entryDir, 'mcp-bridge.js') }
}

/** On a machine with nothing configured the built-in agent has a model all the same: the rehearsal. */
async function ensureRehearsal(providers: Providers, log: OpenPlatform['log']): Promise<void> {
  if (providers.failure() !== null) return
  const { connections, revision } = await providers.catalog()
  if (connections.some((connection) => connection.client === 'builtin')) return
  try {
    const { value } = await providers.saveConnection(
      { name: REHEARSAL_NAME, client: 'builtin', preset: 'rehearsal' },
      null,
      revision,
      'create',
    )
    const made = value.connections.find((connection) => connection.preset === 'rehearsal')
    if (made === undefined) return
    await providers.setDefault('builtin', { connectionId: made.id, modelId: 'rehearsal-1' }, value.revision)
  } catch (error) {
    log.warn('the rehearsal could not be set up', { error })
  }
}
