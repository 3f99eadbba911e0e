import { join } from 'node:path'
import type { Event } from 'electron'
import { connectInProcess } from '../bridge/index.ts'
import { openDemo } from '../demo.ts'
import type { Host } from '../host.ts'
import {
  browserOnlookers,
  busAddresses,
  createDbusNotifications,
  openNotifications,
  together,
} from '../notifications/index.ts'
import type { NotificationPort, Place } from '../notifications/index.ts'
import { createHostControl } from '../platform/index.ts'
import type { ElectronApi } from './electron-api.ts'
import { serveIpc } from './ipc.ts'
import { lockDown } from './lockdown.ts'
import { appMenu } from './menu.ts'
import { systemNotifications } from './notifications.ts'
import { onAway } from './power.ts'
import { ORIGIN, serveAppScheme } from './scheme.ts'
import { createShutdown } from './shutdown.ts'
import { createTray } from './tray.ts'
import type { TrayDeps } from './tray.ts'
import { createWebLinks } from './web-links.ts'
import { createWindows } from './windows.ts'

export interface AppOptions {
  electron: ElectronApi
  entryDir: string
  env: Readonly<Record<string, string | undefined>>
  host: Host
  /** Gives the data folder free; the last step of the stop. */
  release(): Promise<void>
  /** `--demo` opens a rehearsal session at once. */
  args: readonly string[]
}

export interface RunningApp {
  /** In order, within 15 s; the process is left to the caller. */
  stop(): Promise<boolean>
}

/**
 * The shell round a running host: its control socket, the bridge over IPC, the window, the tray and the notifications.
 * Electron is ready. Quitting by any way ends in the same order.
 */
export async function runApp(options: AppOptions): Promise<RunningApp> {
  const { electron, entryDir, host } = options
  const { app } = electron
  const { clock, log, paths, settings } = host.platform
  const rendererDir = join(entryDir, '..', 'renderer')
  const page = pageOf(app.isPackaged, options.env)

  const windows = createWindows({
    clock,
    log,
    create: (windowOptions) => new electron.BrowserWindow(windowOptions),
    preload: join(entryDir, '..', 'preload', 'index.cjs'),
    icon: join(entryDir, '..', '..', 'build', 'icon.png'),
    pageUrl: `${page.origin}/`,
    development: page.development,
  })
  const web = createWebLinks({ host, rendererDir })
  const open = (place?: Place): void => windows.show(place)
  const quit = (): void => app.quit()

  lockDown({ app, shell: electron.shell, session: electron.session.defaultSession, log, pageUrl: `${page.origin}/` })
  serveAppScheme(electron.protocol, rendererDir)
  serveIpc({
    ipcMain: electron.ipcMain,
    log,
    origin: page.origin,
    isOurs: windows.isOurs,
    attach: (connection) => void host.attach(connection, 'window'),
  })
  electron.Menu.setApplicationMenu(
    electron.Menu.buildFromTemplate(
      appMenu({ platform: process.platform, development: page.development, newWindow: windows.open }),
    ),
  )
  const notifications = openNotifications({
    ...host.platform,
    bridge: connectInProcess(clock, (connection) => void host.attach(connection, 'notification')),
    port: notificationPort(options),
    onlookers: together(windows, browserOnlookers(host.connections)),
    open,
  })
  const tray = openTray(options, {
    open,
    quit,
    say: (message) =>
      void notifications.show?.({ tag: 'gateway', title: 'Wheelhouse', body: message, sessionId: null }),
  })
  host.setShell({
    kind: 'electron',
    async activate(want) {
      if (want === 'link') return { url: await web.newUrl() }
      open()
      return { url: null }
    },
    pickFolder: () => pickFolder(electron),
    notify: () => notifications.show,
  })
  const followTheme = (): void => {
    electron.nativeTheme.themeSource = settings.get('theme')
  }
  followTheme()
  const theme = settings.subscribe(followTheme)
  const away = onAway(electron.powerMonitor, () => host.providers.dropKeys())

  const listening = await createHostControl().listen(paths.dataDir, (connection) => void host.attach(connection, 'cli'))
  open(options.args.includes('--demo') ? { kind: 'session', sessionId: await openDemo(host) } : undefined)

  const shutdown = createShutdown({
    clock,
    log,
    steps: [
      { name: 'notifications', run: () => notifications[Symbol.dispose]() },
      { name: 'tray', run: () => tray?.[Symbol.dispose]() },
      { name: 'theme', run: () => theme[Symbol.dispose]() },
      { name: 'power', run: () => away[Symbol.dispose]() },
      { name: 'windows', run: () => windows.closeAll() },
      { name: 'control socket', run: () => listening[Symbol.asyncDispose]() },
      { name: 'browsers', run: () => web.stop() },
      { name: 'host', run: () => host.stop() },
      { name: 'lock', run: () => options.release() },
    ],
  })
  app.on('before-quit', (event: Event) => {
    event.preventDefault()
    void shutdown.stop().then((inTime) => app.exit(inTime ? 0 : 1))
  })
  app.on('window-all-closed', () => {
    if (tray === null || !settings.get('keepInTray')) quit()
  })
  app.on('activate', () => open())
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, quit)
  return { stop: () => shutdown.stop() }
}

/** A build for people loads its own page, whatever the environment says. */
function pageOf(isPackaged: boolean, env: AppOptions['env']): { origin: string; development: boolean } {
  const devUrl = isPackaged ? undefined : env['ELECTRON_RENDERER_URL']
  if (devUrl === undefined || !URL.canParse(devUrl)) return { origin: ORIGIN, development: false }
  return { origin: new URL(devUrl).origin, development: true }
}

async function pickFolder({ dialog }: ElectronApi): Promise<string | null> {
  const { canceled, filePaths } = await dialog.showOpenDialog({ properties: ['openDirectory', 'createDirectory'] })
  return canceled ? null : (filePaths[0] ?? null)
}

/** Null where the system has no tray: the app then ends with its last window. */
function openTray({ electron, host }: AppOptions, on: Pick<TrayDeps, 'open' | 'quit' | 'say'>): Disposable | null {
  const { clock, log } = host.platform
  const bridge = connectInProcess(clock, (connection) => void host.attach(connection, 'tray'))
  try {
    const tray = createTray({ electron, platform: process.platform, bridge, ...on })
    return {
      [Symbol.dispose]() {
        tray[Symbol.dispose]()
        bridge.close()
      },
    }
  } catch (error) {
    bridge.close()
    log.warn('there is no tray on this system', { error })
    return null
  }
}

/** Over D-Bus on Linux, which knows buttons and replaces cards; else, or where no session bus answers, through Electron. */
function notificationPort({ electron, env, host }: AppOptions): NotificationPort {
  const fallback = systemNotifications(electron)
  const addresses = process.platform === 'linux' ? busAddresses(env) : []
  if (addresses.length === 0) return fallback
  const { clock, log } = host.platform
  return createDbusNotifications({ clock, log, addresses, fallback })
}
