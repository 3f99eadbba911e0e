import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../shared/errors.ts'
import { createHost } from '../host.ts'
import type { Host } from '../host.ts'
import { createHostControl, createSystemClock, defaultDataDir } from '../platform/index.ts'
import type { HostRole } from '../platform/index.ts'
import { runApp } from './app.ts'
import type { RunningApp } from './app.ts'
import { endOnUncaught } from './crash.ts'
import type { ElectronApi } from './electron-api.ts'
import { showStartFailure } from './error-window.ts'
import { handOver } from './hand-over.ts'
import { registerAppScheme } from './scheme.ts'

export interface DesktopOptions {
  electron: ElectronApi
  /** Where the built main modules lie. */
  entryDir: string
  env: Readonly<Record<string, string | undefined>>
  args: readonly string[]
}

/** How Windows tells the app's notifications and windows from another's. */
const APP_USER_MODEL_ID = 'dev.wheelhouse.app'

/**
 * Takes the data folder's lock and goes on once Electron is ready. A second start hands over to the first and ends. Resolves
 * before the app is ready, since Electron waits for its entry.
 */
export async function startDesktop(options: DesktopOptions): Promise<void> {
  const { electron } = options
  const { app } = electron
  const dataDir = defaultDataDir()
  const clock = createSystemClock()
  registerAppScheme(electron.protocol)
  app.setAppUserModelId(APP_USER_MODEL_ID)

  let host: Host | null = null
  let running: RunningApp | null = null
  endOnUncaught({
    electron,
    process,
    report(message, error) {
      if (host === null) process.stderr.write(`wheelhouse: ${message}: ${String(error)}\n`)
      else host.platform.log.error(message, { error })
    },
    end: async () => void (await (running === null ? host?.stop() : running.stop())),
  })

  const fail = async (error: unknown): Promise<void> => {
    await app.whenReady()
    await showStartFailure(electron, { error, dataDir })
    app.exit(1)
  }
  const boot = async (role: Extract<HostRole, { kind: 'host' }>): Promise<void> => {
    try {
      host = await createHost({ dataDir, entryDir: options.entryDir, env: options.env, askLoginShell: true })
      running = await runApp({ ...options, host, release: () => role.release() })
    } catch (error) {
      await host?.stop()
      await role.release()
      await fail(error)
    }
  }

  try {
    const role = await createHostControl().acquire(dataDir)
    if (role.kind === 'running') {
      const { url } = await handOver(clock, role.connect)
      if (url !== null) await electron.shell.openExternal(url)
      return app.exit(0)
    }
    keepProfileIn(electron, dataDir)
    void app.whenReady().then(() => boot(role))
  } catch (error) {
    void fail(error)
  }
}

/** Nothing is written outside of the data folder: Chromium's own files neither. */
function keepProfileIn({ app }: Pick<ElectronApi, 'app'>, dataDir: string): void {
  const profile = join(dataDir, 'electron')
  try {
    mkdirSync(profile, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new AppError('data_dir_unwritable', `The folder ${profile} cannot be made.`, { cause })
  }
  app.setPath('userData', profile)
}
