import { desktop } from '../../shared/strings/desktop.ts'
import type { BrowserWindow, BrowserWindowConstructorOptions, WebContents } from 'electron'
import type { Clock, Log } from '../platform/index.ts'
import { placeHash } from '../notifications/index.ts'
import type { Onlookers, Place } from '../notifications/index.ts'

export interface Windows extends Onlookers {
  /** Brings a window to the front, makes one where there is none, and leads it to `place`. */
  show(place?: Place): void
  /** One more window. */
  open(): void
  isOurs(contents: WebContents): boolean
  /** Asks each window to close, and destroys what is still there after a second. */
  closeAll(): Promise<void>
}

export interface WindowsDeps {
  clock: Clock
  log: Log
  create(options: BrowserWindowConstructorOptions): BrowserWindow
  preload: string
  /** A picture for where a window is listed; on macOS the app's own stands there. */
  icon: string
  /** The page to load, with a `/` at its end: the app's own, or the dev server's. */
  pageUrl: string
  development: boolean
}

const CLOSE_LIMIT_MS = 1_000
/** A page that dies again so soon is left as it is: reloading it would go on for ever. */
const RELOAD_PAUSE_MS = 10_000

/** The app's own windows. Only these may speak over the bridge. */
export function createWindows(deps: WindowsDeps): Windows {
  const { clock, log, pageUrl } = deps
  const windows = new Set<BrowserWindow>()
  const ours = new WeakSet<WebContents>()

  const load = (window: BrowserWindow, url: string): void => {
    window.loadURL(url).catch((error: unknown) => {
      if (!window.isDestroyed()) log.warn('a window did not load its page', { error })
    })
  }

  const make = (place: Place | undefined): void => {
    const window = deps.create(windowOptions(deps))
    ours.add(window.webContents)
    windows.add(window)
    window.once('ready-to-show', () => window.show())
    window.on('closed', () => windows.delete(window))
    let diedAtMs = Number.NEGATIVE_INFINITY
    window.webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
      if (reason === 'clean-exit' || window.isDestroyed()) return
      log.error('the process of a window went away', { reason, exitCode })
      const early = clock.monotonicMs() - diedAtMs < RELOAD_PAUSE_MS
      diedAtMs = clock.monotonicMs()
      if (!early) load(window, pageUrl)
    })
    load(window, place === undefined ? pageUrl : pageUrl + placeHash(place))
  }

  return {
    show(place) {
      const [window] = windows
      if (window === undefined) return make(place)
      if (window.isMinimized()) window.restore()
      window.show()
      window.focus()
      // Only the part after `#` changes: the page stays, and goes there by itself.
      if (place !== undefined) load(window, pageUrl + placeHash(place))
    },
    open: () => make(undefined),
    isOurs: (contents) => ours.has(contents),
    anyFocused: () => [...windows].some((window) => window.isFocused()),
    shows(places) {
      const urls = new Set(places.map((place) => pageUrl + placeHash(place)))
      return [...windows].some((window) => window.isFocused() && urls.has(window.webContents.getURL()))
    },
    async closeAll() {
      if (windows.size === 0) return
      const limit = new AbortController()
      const closed = [...windows].map((window) => new Promise<void>((resolve) => window.once('closed', resolve)))
      for (const window of windows) window.close()
      await Promise.race([Promise.all(closed), clock.sleep(CLOSE_LIMIT_MS, limit.signal).catch(() => {})])
      limit.abort()
      for (const window of windows) window.destroy()
    },
  }
}

function windowOptions({ preload, icon, development }: WindowsDeps): BrowserWindowConstructorOptions {
  return {
    width: 1_280,
    height: 840,
    minWidth: 640,
    minHeight: 480,
    show: false,
    title: desktop.product,
    icon,
    webPreferences: {
      preload,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInSubFrames: false,
      nodeIntegrationInWorker: false,
      webviewTag: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      navigateOnDragDrop: false,
      spellcheck: false,
      devTools: development,
    },
  }
}
