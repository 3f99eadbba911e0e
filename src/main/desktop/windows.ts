import type { BrowserWindow, BrowserWindowConstructorOptions, WebContents } from 'electron'
import { ORIGIN } from './scheme.ts'

export interface Windows {
  /** Brings a window to the front; makes one where there is none. */
  show(): BrowserWindow
  isOurs(contents: WebContents): boolean
  all(): readonly BrowserWindow[]
}

export interface WindowsDeps {
  create(options: BrowserWindowConstructorOptions): BrowserWindow
  preload: string
  /** Development: the dev server's page instead of the built one. */
  devUrl: string | null
}

/** The app's own windows. Only these may speak over the bridge. */
export function createWindows(deps: WindowsDeps): Windows {
  const open = new Set<BrowserWindow>()
  const ours = new WeakSet<WebContents>()

  const make = (): BrowserWindow => {
    const window = deps.create({
      width: 1_280,
      height: 840,
      minWidth: 640,
      minHeight: 480,
      show: false,
      title: 'Wheelhouse',
      webPreferences: {
        preload: deps.preload,
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
        devTools: deps.devUrl !== null,
      },
    })
    ours.add(window.webContents)
    open.add(window)
    window.once('ready-to-show', () => window.show())
    window.on('closed', () => open.delete(window))
    void window.loadURL(deps.devUrl ?? `${ORIGIN}/`)
    return window
  }

  return {
    show() {
      const [window] = open
      if (window === undefined) return make()
      if (window.isMinimized()) window.restore()
      window.show()
      window.focus()
      return window
    },
    isOurs: (contents) => ours.has(contents),
    all: () => [...open],
  }
}
