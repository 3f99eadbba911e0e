import { homedir } from 'node:os'
import { join } from 'node:path'
import { createBridgeServer, createHandlers, createSources, createViews } from './bridge/index.ts'
import type { BridgeServer, ConnectionInfo, ShellPort } from './bridge/index.ts'
import {
  createAgentExecutor,
  createAgents,
  createPreflights,
  createSessionRuntimes,
  executorMigrations,
} from './executor/index.ts'
import { checkHealth } from './health.ts'
import { openInstallation } from './installation.ts'
import type { Installation } from './installation.ts'
import { isTestBuild, openPlatform } from './platform/index.ts'
import type { FrameConnection, OpenPlatform } from './platform/index.ts'
import { createProviders, providerMigrations } from './providers/index.ts'
import type { Providers } from './providers/index.ts'
import { createRehearsal } from './rehearsal/index.ts'
import { createRuntime, runtimeMigrations } from './runtime/index.ts'
import type { Runtime } from './runtime/index.ts'
import { createWorkers } from './workers/index.ts'
import { APP_VERSION } from './version.ts'

export interface HostOptions {
  /** Its lock is held by the caller. */
  dataDir: string
  /** The built entries beside this one: where `agent.js` lies. */
  entryDir: string
  env: Readonly<Record<string, string | undefined>>
}

export interface Host {
  readonly platform: OpenPlatform
  readonly installation: Installation
  readonly runtime: Runtime
  readonly providers: Providers
  /** Serves the bridge on this connection. */
  attach(connection: FrameConnection, kind: ConnectionInfo['kind']): ConnectionInfo
  /** What a window can do here that a browser cannot. Until it is set, nothing is shown and nothing is picked. */
  setShell(shell: ShellPort): void
  /** In reverse order of the start, 15 s in all. What could not be settled stays HELD on record. A second call waits. */
  stop(): Promise<void>
}

const MEBIBYTE = 1_048_576
const REHEARSAL_NAME = 'Rehearsal'
const NO_SHELL: ShellPort = { kind: 'cli', activate: () => Promise.resolve({ url: null }), pickFolder: null }

/**
 * The composition root: builds the systems over one data folder, hands each what it needs of the others, and starts them
 * in order. Recovery goes on behind the open window.
 */
export async function createHost(options: HostOptions): Promise<Host> {
  const { env } = options
  const hostEnv = (name: string): string | undefined => env[name]
  const platform = await openPlatform({
    dataDir: options.dataDir,
    migrations: [...runtimeMigrations, ...executorMigrations, ...providerMigrations],
    testFailpoints: isTestBuild(env),
    env,
  })
  const { clock, ids, log, paths, store, settings } = platform
  const installation = await openInstallation(platform)

  const rehearsal = createRehearsal({ clock, ids, log })
  let rehearsalOrigin: string | null = null
  const providers = createProviders({
    ...platform,
    environment: () => env,
    rehearsalOrigin: () => rehearsalOrigin,
    bodyCapBytes: () => settings.get('requestBodyCapMiB') * MEBIBYTE,
  })
  rehearsalOrigin = (await rehearsal.start()).origin
  const starting = new AbortController()
  await providers.start(starting.signal)
  await ensureRehearsal(providers, log)

  const workers = createWorkers({ ...platform, hostEnv })
  const agents = createAgents({
    builtin: {
      command: process.execPath,
      script: join(options.entryDir, 'agent.js'),
      home: join(paths.dataDir, 'agent'),
    },
  })
  const executor = createAgentExecutor({ clock, ids, log, paths, store, workers, providers, agents, hostEnv })
  const reaper = executor.startReaping()

  const presets = new Map<string, string>()
  const readPresets = async (): Promise<void> => {
    if (providers.failure() !== null) return
    presets.clear()
    for (const connection of (await providers.catalog()).connections) presets.set(connection.id, connection.preset)
  }
  await readPresets()
  const forgetPresets = providers.onChange(() => void readPresets())

  const runtimes = createSessionRuntimes({
    store,
    agents,
    providers,
    executor,
    runtime: () => runtime,
    presetOf: (connectionId) => presets.get(connectionId) ?? null,
  })
  const runtime: Runtime = createRuntime({
    ...platform,
    executor,
    isHeld: executor.isHeld,
    osEnabled: () => settings.get('osModeEnabled'),
    choices: { set: runtimes.set },
  })
  const preflights = createPreflights({ clock, ids, agents, workers, hostEnv })
  const views = createViews({ runtime, executor, runtimes, agents })

  let shell: ShellPort = NO_SHELL
  const sources = createSources({ clock, log, runtime, executor, providers, settings, views })
  const bridge: BridgeServer = createBridgeServer({
    clock,
    ids,
    log,
    handlers: createHandlers({
      platform,
      runtime,
      executor,
      preflights,
      views,
      runtimes,
      providers,
      shell: () => shell,
      health: (signal) => checkHealth({ platform, providers, preflights }, signal),
      app: { version: APP_VERSION, homeDir: homedir() },
    }),
    sources: sources.sources,
    app: { version: APP_VERSION, installation: installation.id, capabilities: [] },
  })

  const { firstScan } = runtime.start()
  void firstScan.then(
    (found) => log.info('the first recovery scan is done', { ...found }),
    (error: unknown) => log.error('the first recovery scan failed', { error }),
  )
  void reaper.done.then(
    () => runtime.recovery.wake(),
    (error: unknown) => log.error('earlier workers could not be settled', { error }),
  )

  let stopping: Promise<void> | null = null
  const stop = async (): Promise<void> => {
    bridge.stop()
    sources.stop()
    starting.abort()
    await runtime.stop()
    await executor.stop()
    forgetPresets()
    await providers.stop()
    await rehearsal.stop()
    await platform.close()
  }

  return {
    platform,
    installation,
    runtime,
    providers,
    attach: bridge.attach,
    setShell(next) {
      shell = next
    },
    stop: () => (stopping ??= stop()),
  }
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
