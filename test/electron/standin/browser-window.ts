import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { BrowserWindowConstructorOptions } from 'electron'
import type { Page, Route } from 'playwright-core'
import { app } from './app.ts'
import { newPage } from './chromium.ts'
import { themedAs } from './native-theme.ts'
import { note, preventable } from './record.ts'
import { answerOf, shownUrl } from './scheme.ts'
import { WebContents } from './web-contents.ts'
import type { FromPage } from './web-contents.ts'

const shim = readFileSync(new URL('./preload-shim.js', import.meta.url), 'utf8')
const COMPROMISED = process.env['STANDIN_COMPROMISED'] === '1'
const withoutHash = (url: string): string => url.split('#', 1)[0] ?? ''
const all = new Set<BrowserWindow>()
let ids = 0
let focused: BrowserWindow | null = null

/** A window is a page of a real Chromium, with the built preload inside of the shim. */
export class BrowserWindow extends EventEmitter {
  static getAllWindows = (): BrowserWindow[] => [...all]
  static getFocusedWindow = (): BrowserWindow | null => focused
  static fromWebContents = (contents: WebContents): BrowserWindow | null =>
    [...all].find((window) => window.webContents === contents) ?? null
  /** As if the person went to another program. */
  static blurAll = (): void => {
    focused = null
  }

  readonly id = ++ids
  readonly webContents = new WebContents()
  readonly options: BrowserWindowConstructorOptions
  readonly page: Promise<Page>
  loaded = false
  #visible: boolean
  #wanted = ''

  constructor(options: BrowserWindowConstructorOptions = {}) {
    super()
    app.mustBeReady('Cannot create BrowserWindow')
    this.options = options
    this.#visible = options.show !== false
    note('new BrowserWindow', options)
    all.add(this)
    app.windows.add(this)
    app.emit('web-contents-created', {}, this.webContents)
    this.page = this.#attach()
  }

  async #attach(): Promise<Page> {
    const { context, page } = await newPage()
    const contents = this.webContents
    contents.page = page
    await page.setViewportSize({ width: this.options.width ?? 800, height: this.options.height ?? 600 })
    await page.exposeBinding('__standin', ({ frame }, message: FromPage) => contents.receive(frame, message))
    const { preload } = this.options.webPreferences ?? {}
    if (preload !== undefined) await page.addInitScript({ content: preloadScript(preload) })
    const cdp = await context.newCDPSession(page)
    await cdp.send('Page.enable')
    cdp.on('Page.windowOpen', ({ url }) => contents.windowOpened(url))
    await page.route('**/*', (route) => this.#route(page, route))
    page.on('console', (message) => note('console', message.type(), message.text()))
    page.on('pageerror', (error) => note('pageerror', error.message))
    page.on('crash', () => contents.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 1 }))
    page.on('close', () => this.#closed())
    await themedAs(page)
    return page
  }

  async #route(page: Page, route: Route): Promise<void> {
    const request = route.request()
    if (request.isNavigationRequest()) {
      const isMain = request.frame() === page.mainFrame()
      const asked = isMain && withoutHash(request.url()) === withoutHash(this.#wanted)
      // 204 leaves the page where it was; an abort would put an error page there.
      if (!asked && !this.webContents.mayNavigate(request.url(), isMain)) return route.fulfill({ status: 204 })
    }
    const answer = await answerOf(request.url(), request.method())
    if (answer === null) return route.continue()
    return route.fulfill({
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: Buffer.from(await answer.arrayBuffer()),
    })
  }

  async loadURL(url: string): Promise<void> {
    const page = await this.page
    this.#wanted = shownUrl(url)
    await page.goto(this.#wanted, { waitUntil: 'load' })
    if (!this.loaded) {
      this.loaded = true
      this.emit('ready-to-show')
    }
    this.webContents.emit('did-finish-load')
  }
  loadFile(path: string): Promise<void> {
    return this.loadURL(pathToFileURL(path).href)
  }

  show(): void {
    this.#visible = true
    note('window.show', this.id)
    this.focus()
  }
  hide(): void {
    this.#visible = false
    if (focused === this) focused = null
  }
  focus(): void {
    // oxlint-disable-next-line typescript/no-this-alias -- which window has the focus
    focused = this
    note('window.focus', this.id)
    this.emit('focus')
  }
  isFocused(): boolean {
    return focused === this
  }
  isVisible(): boolean {
    return this.#visible
  }
  isMinimized(): boolean {
    return false
  }
  isDestroyed(): boolean {
    return !all.has(this)
  }
  close(): void {
    const event = preventable()
    this.emit('close', event)
    if (!event.defaultPrevented) this.destroy()
  }
  destroy(): void {
    void this.page.then((page) => page.close()).catch(() => {})
    this.#closed()
  }
  #closed(): void {
    if (!all.delete(this)) return
    app.windows.delete(this)
    if (focused === this) focused = null
    this.webContents.destroyed()
    this.emit('closed')
    if (all.size === 0) app.emit('window-all-closed')
  }
}

function preloadScript(preload: string): string {
  return shim
    .replaceAll('%PLATFORM%', process.platform)
    .replaceAll('%COMPROMISED%', String(COMPROMISED))
    .replace('/*PRELOAD*/', () => readFileSync(preload, 'utf8'))
}
