import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'
import { withCompileCache } from '../support/compile-cache.ts'
import type { Order, Outcome, StandIn } from './standin/driver.ts'

export const ROOT = join(import.meta.dirname, '..', '..')
const MAIN = join(ROOT, 'out/main/index.js')
const WINDOW_LIMIT_MS = 40_000

export interface AppProcess {
  readonly child: ChildProcess
  /** Both streams, so far. */
  output(): string
  /** Runs `fn`, as text, in the app's process: it may use its arguments and nothing around it. */
  evaluate<A, R>(fn: (electron: StandIn, arg: A) => R | Promise<R>, arg?: A): Promise<R>
  /** What the app asked of dialogs and of the system in its life. Known once it has ended by itself. */
  farewell(): readonly { api: string; args: unknown[] }[]
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

export interface LaunchedApp extends AppProcess {
  readonly browser: Browser
  readonly page: Page
  /** All windows, oldest first. */
  pages(): Page[]
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Quits as the menu does, and answers the exit code. */
  quit(): Promise<number | null>
}

export interface LaunchOptions {
  home: string
  env?: Readonly<Record<string, string>>
  args?: readonly string[]
}

/** The built app under the stand-in, in a process of its own; does not wait for a window. */
export function startProcess({ home, env = {}, args = [] }: LaunchOptions, cdpPort?: number): AppProcess {
  const child = fork(new URL('./standin/run.ts', import.meta.url), [MAIN, ...args], {
    cwd: ROOT,
    serialization: 'advanced',
    execArgv: [
      '--disable-warning=ExperimentalWarning',
      '--import',
      new URL('./standin/register.ts', import.meta.url).href,
    ],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      ...withCompileCache(),
      NODE_OPTIONS: '',
      ELECTRON_RENDERER_URL: '',
      ...env,
      WHEELHOUSE_HOME: home,
      ...(cdpPort === undefined ? {} : { STANDIN_CDP_PORT: String(cdpPort) }),
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let ids = 0
  let farewell: { api: string; args: unknown[] }[] = []
  child.on('message', (outcome: Outcome) => {
    if (outcome.id === 0 && 'value' in outcome) {
      farewell = outcome.value as typeof farewell
      return
    }
    const caller = waiting.get(outcome.id)
    waiting.delete(outcome.id)
    if ('error' in outcome) caller?.reject(new Error(outcome.error))
    else caller?.resolve(outcome.value)
  })
  const exited = once(child, 'exit').then((how) => {
    const [code, signal] = how as [number | null, NodeJS.Signals | null]
    for (const caller of waiting.values()) caller.reject(new Error(`the app left: ${code ?? signal}\n${output}`))
    waiting.clear()
    return { code, signal }
  })
  return {
    child,
    exited,
    output: () => output,
    farewell: () => farewell,
    evaluate: <A, R>(fn: (electron: StandIn, arg: A) => R | Promise<R>, arg?: A) =>
      new Promise<R>((resolve, reject) => {
        const order: Order = { id: ++ids, code: String(fn), arg }
        waiting.set(order.id, { resolve: (value) => resolve(value as R), reject })
        child.send(order, (error) => {
          if (error === null || !waiting.delete(order.id)) return
          reject(new Error(`the app left\n${output}`, { cause: error }))
        })
      }),
  }
}

/** Starts the app and waits for its first window to show the interface. */
export async function launchApp(options: LaunchOptions): Promise<LaunchedApp> {
  const port = await freePort()
  const app = startProcess(options, port)
  try {
    await firstWindow(app)
    const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`)
    const pages = (): Page[] =>
      browser
        .contexts()
        .flatMap((context) => context.pages())
        .filter((page) => page.url() !== 'about:blank')
    const leave = async (): Promise<{ code: number | null }> => {
      const { code } = await app.exited
      await browser.close().catch(() => {})
      return { code }
    }
    return {
      ...app,
      browser,
      pages,
      get page() {
        const [page] = pages()
        if (page === undefined) throw new Error('the app has no window')
        return page
      },
      async kill(signal = 'SIGKILL') {
        app.child.kill(signal)
        await leave()
      },
      async quit() {
        await app.evaluate(({ app }) => app.quit()).catch(() => {})
        return (await leave()).code
      },
    }
  } catch (error) {
    app.child.kill('SIGKILL')
    await app.exited
    throw error
  }
}

async function firstWindow(app: AppProcess): Promise<void> {
  const untilMs = performance.now() + WINDOW_LIMIT_MS
  for (;;) {
    const loaded = await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().some(({ loaded }) => loaded))
    if (loaded) return
    if (performance.now() > untilMs) throw new Error(`no window came\n${app.output()}`)
    await sleep(50)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
