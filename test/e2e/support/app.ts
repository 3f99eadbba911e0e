/**
 * The app as the end-to-end specs meet it, in either shell: the browser host in Chromium, or the built Electron main under the
 * stand-in. A spec takes a page and does not ask which it is.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchApp, ROOT } from '../../electron/launch.ts'
import type { LaunchedApp } from '../../electron/launch.ts'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../../src/shared/bridge/index.ts'
import { withCompileCache } from '../../support/compile-cache.ts'
import { callHost } from './call-host.ts'
import { chromiumOptions } from './chromium.ts'

export const SHELLS = ['browser', 'electron'] as const
export type Shell = (typeof SHELLS)[number]

export interface OpenOptions {
  /** The data folder. */
  home: string
  env?: Readonly<Record<string, string>>
  args?: readonly string[]
}

export interface OpenedApp {
  readonly shell: Shell
  readonly home: string
  /** The first window. In the browser it outlives its host; in Electron a restart brings a new one. */
  readonly page: Page
  /** Errors and content policy violations of every page, as they came. */
  readonly consoleErrors: readonly string[]
  /** One more window on the same host. */
  newWindow(): Promise<Page>
  /** One call of the bridge, beside the windows, as another program of the same person makes it. */
  call<N extends ProcedureName>(name: N, input: ProcedureInput<N>): Promise<ProcedureOutput<N>>
  /** What host and shell wrote to their streams. */
  output(): string
  /** Ends the host as a crash does (`SIGKILL`), or by another signal, and waits until it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** A new host on the same folder, after `kill`. In the browser the open pages find it by themselves. */
  restart(): Promise<void>
  /** Ends everything in order; answers the host's exit code, null after a signal. */
  stop(): Promise<number | null>
}

export function openApp(shell: Shell, options: OpenOptions): Promise<OpenedApp> {
  return shell === 'browser' ? openInBrowser(options) : openInElectron(options)
}

const START_LIMIT_MS = 40_000
const SERVE = join(ROOT, 'out/main/serve.js')
const LINK = /http:\/\/127\.0\.0\.1:\d+\/#token=\S+/

export interface ServedHost {
  child: ChildProcess
  url: string
  exited: Promise<number | null>
}

async function openInBrowser(options: OpenOptions): Promise<OpenedApp> {
  const output: string[] = []
  const consoleErrors: string[] = []
  let host = await serveHost(options, output)
  const browser: Browser = await chromium.launch(chromiumOptions())
  const context: BrowserContext = await browser.newContext({ viewport: { width: 1_280, height: 840 } })
  context.on('page', (page) => watchErrors(page, consoleErrors))
  const page = await context.newPage()
  await page.goto(host.url)
  return {
    shell: 'browser',
    home: options.home,
    page,
    consoleErrors,
    output: () => output.join(''),
    call: (name, input) => callHost(options.home, name, input),
    async newWindow() {
      const another = await context.newPage()
      // The cookie lets it in: the link was for one browser, once.
      await another.goto(new URL('/', host.url).href)
      return another
    },
    async kill(signal = 'SIGKILL') {
      host.child.kill(signal)
      await host.exited
    },
    async restart() {
      host = await serveHost(options, output)
    },
    async stop() {
      await browser.close()
      host.child.kill('SIGTERM')
      return host.exited
    },
  }
}

/** Starts the browser host alone and waits for its link. */
export async function serveHost({ home, env = {}, args = [] }: OpenOptions, output: string[]): Promise<ServedHost> {
  const child = spawn(process.execPath, [SERVE, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...withCompileCache(), NODE_OPTIONS: '', ...env, WHEELHOUSE_HOME: home },
  })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const { promise: url, resolve, reject } = Promise.withResolvers<string>()
  const from = output.length
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output.push(text)
      const [link] = LINK.exec(output.slice(from).join('')) ?? []
      if (link !== undefined) resolve(link)
    })
  }
  const giveUp = (why: string): void => reject(new Error(`the browser host ${why}\n${output.join('')}`))
  const limit = setTimeout(() => giveUp('printed no link'), START_LIMIT_MS)
  void exited.then((code) => giveUp(`left: ${code}`))
  try {
    return { child, url: await url, exited }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    clearTimeout(limit)
  }
}

async function openInElectron(options: OpenOptions): Promise<OpenedApp> {
  const consoleErrors: string[] = []
  let earlier = ''
  const launch = async (): Promise<LaunchedApp> => {
    const launched = await launchApp(options)
    for (const context of launched.browser.contexts()) {
      for (const page of context.pages()) watchErrors(page, consoleErrors)
      context.on('page', (page) => watchErrors(page, consoleErrors))
    }
    return launched
  }
  let app = await launch()
  return {
    shell: 'electron',
    home: options.home,
    get page() {
      return app.page
    },
    consoleErrors,
    output: () => earlier + app.output(),
    call: (name, input) => callHost(options.home, name, input),
    async newWindow() {
      const before = new Set(app.pages())
      await app.evaluate(async ({ BrowserWindow, Menu }) => {
        const items = Menu.applicationMenu?.items.flatMap(({ submenu }) => submenu?.items ?? []) ?? []
        items.find(({ label }) => label === 'New Window')?.click()
        const window = BrowserWindow.getAllWindows().at(-1)
        if (window?.loaded === false) await new Promise((resolve) => window.once('ready-to-show', resolve))
      })
      for (const untilMs = performance.now() + START_LIMIT_MS; performance.now() < untilMs; await sleep(50)) {
        const page = app.pages().find((each) => !before.has(each))
        if (page !== undefined) return page
      }
      throw new Error('no window came')
    },
    kill: (signal) => app.kill(signal),
    async restart() {
      earlier += app.output()
      app = await launch()
    },
    stop: () => app.quit(),
  }
}

/** A failed request of a host that is away is life; a script error or a policy violation never is. */
function watchErrors(page: Page, into: string[]): void {
  page.on('pageerror', (error) => into.push(`page error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') into.push(message.text())
  })
}
