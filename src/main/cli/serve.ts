import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { AppError } from '../../shared/errors.ts'
import { connectInProcess } from '../bridge/index.ts'
import { openDemo } from '../demo.ts'
import { createHost } from '../host.ts'
import type { Host } from '../host.ts'
import {
  browserOnlookers,
  busAddresses,
  createDbusNotifications,
  openNotifications,
  placeHash,
} from '../notifications/index.ts'
import type { Notifications } from '../notifications/index.ts'
import { createHostControl, defaultDataDir } from '../platform/index.ts'
import { createBrowserOpener, startWebHost } from '../web/index.ts'
import type { WebHost } from '../web/index.ts'
import { lockOrJoin } from './bridge.ts'
import { whenBroken } from './broken.ts'
import { EXIT } from './exit-codes.ts'
import { listenForInterrupts, whenAborted } from './interrupt.ts'
import { printError, say, tell } from './print.ts'
import { usageOf } from './usage.ts'

const STOP_MS = 15_000

/** Answers the exit code. Runs until SIGINT, SIGTERM or SIGHUP. `entryDir` is the folder of the built entries. */
export async function runServe(args: readonly string[], entryDir: string): Promise<number> {
  let options: { port: number | null; demo: boolean }
  try {
    options = readOptions(args)
  } catch (thrown) {
    tell(`${usageOf('serve')}\nwheelhouse: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`)
    return 2
  }
  try {
    return await serve(options, entryDir)
  } catch (thrown) {
    printError(thrown)
    return 1
  }
}

function readOptions(args: readonly string[]): { port: number | null; demo: boolean } {
  const { values } = parseArgs({
    args: [...args],
    options: { port: { type: 'string' }, demo: { type: 'boolean' } },
    strict: true,
  })
  if (values.port === undefined) return { port: null, demo: values.demo === true }
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 1_024 || port > 65_535)
    throw new Error('--port takes a number from 1024 to 65535.')
  return { port, demo: values.demo === true }
}

async function serve(options: { port: number | null; demo: boolean }, entryDir: string): Promise<number> {
  const dataDir = defaultDataDir()
  const control = createHostControl()
  const interrupts = listenForInterrupts()
  const interrupted = interrupts.signal
  const role = await lockOrJoin(control, { dataDir, interrupts })
  if (role.kind === 'running') {
    await using cli = role.cli
    const { url } = await cli.bridge.call('system.activate', { want: 'link' })
    if (url === null)
      throw new AppError('data_dir_in_use', 'Wheelhouse is already running on this data folder, and serves no browser.')
    say(`Wheelhouse is already running. Open ${url}\n`)
    return EXIT.ok
  }
  await using undo = new AsyncDisposableStack()
  undo.defer(() => role.release())
  const host = await createHost({ dataDir, entryDir, env: process.env, onLeft: printError })
  undo.defer(() => host.stop())
  const failed = whenBroken(host.platform.log)
  const web = await openWeb(host, join(entryDir, '..', 'renderer'), options.port)
  undo.defer(() => web.stop())
  const notifications = openServeNotifications(host, web)
  undo.defer(() => notifications?.[Symbol.dispose]())
  host.setShell({
    kind: 'browser',
    activate: (want) => Promise.resolve({ url: want === 'link' ? web.newUrl() : null }),
    pickFolder: null,
    notify: () => notifications?.show ?? null,
  })
  undo.use(await control.listen(dataDir, (connection) => host.attach(connection, 'cli')))
  const demo = options.demo ? `&view=/session/${await openDemo(host)}` : ''
  if (!interrupted.aborted) say(`Wheelhouse is running. Open ${web.newUrl()}${demo}\n`)
  const how = await Promise.race([whenAborted(interrupted).then(() => 'told' as const), failed])
  tell(
    how === 'told' ? 'Stopping. Press Ctrl-C again to leave at once.\n' : 'Something broke; the log has the details.\n',
  )
  // Everything in order, and no later.
  setTimeout(() => process.exit(EXIT.failed), STOP_MS).unref()
  await undo.disposeAsync()
  return how === 'told' ? EXIT.ok : EXIT.failed
}

/** Null: this machine's desktop, where there is one, is no Linux. */
function openServeNotifications(host: Host, web: WebHost): Notifications | null {
  const { clock, log } = host.platform
  const addresses = process.platform === 'linux' ? busAddresses(process.env) : []
  if (addresses.length === 0) {
    log.info('there is no session bus: no notification is shown')
    return null
  }
  const openInBrowser = createBrowserOpener({ env: process.env, log })
  return openNotifications({
    ...host.platform,
    bridge: connectInProcess(clock, (connection) => host.attach(connection, 'notification')),
    port: createDbusNotifications({ clock, log, addresses }),
    onlookers: browserOnlookers(host.connections),
    // Without a token: the browser that was let in has its cookie, and to any other the page says how to get in.
    open: (place) => openInBrowser(`http://127.0.0.1:${web.port}/${placeHash(place ?? { kind: 'home' })}`),
  })
}

/** The saved port first, so that an open tab finds its host again after a restart. */
async function openWeb(host: Host, rendererDir: string, asked: number | null): Promise<WebHost> {
  const { clock, ids, log, settings } = host.platform
  const saved = settings.get('webPort')
  const web = await startWebHost(
    {
      clock,
      ids,
      log,
      installation: host.installation.id,
      cookieKey: host.installation.cookieKey,
      rendererDir,
      attach: (connection) => host.attach(connection, 'browser'),
    },
    { port: asked ?? saved, fixed: asked !== null },
  )
  if (saved === null) await settings.set('webPort', web.port)
  return web
}
