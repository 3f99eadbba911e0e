import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hostMigrations } from '../../src/main/host.ts'
import { openPlatform } from '../../src/main/platform/index.ts'
import { createTempDir } from '../support/dir.ts'
import type { TempDir } from '../support/dir.ts'
import { launchApp, startProcess } from './launch.ts'
import type { LaunchedApp } from './launch.ts'
import { askFor, call, processesOf, readLog, SOON } from './support.ts'

const TWO_STARTS = { timeout: 120_000 }
const started: LaunchedApp[] = []
async function launch(...args: Parameters<typeof launchApp>): Promise<LaunchedApp> {
  const app = await launchApp(...args)
  started.push(app)
  return app
}
afterEach(async () => {
  for (const app of started.splice(0))
    if (app.child.exitCode === null && app.child.signalCode === null) await app.kill()
})

describe('an app that goes on', () => {
  let dir: TempDir
  let app: LaunchedApp
  beforeAll(async () => {
    dir = createTempDir()
    app = await launchApp({ home: dir.path })
  })
  afterAll(async () => {
    if (app.child.exitCode === null && app.child.signalCode === null) await app.kill()
    dir[Symbol.dispose]()
  })
  const closeAll = (): Promise<void> =>
    app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().forEach((window) => window.close()))

  test('DT-A27 a second start hands over and exits 0; the first comes to the front', async () => {
    await app.evaluate(({ BrowserWindow }) => BrowserWindow.blurAll())
    const second = startProcess({ home: dir.path })
    expect(await second.exited).toEqual({ code: 0, signal: null })
    const focused = await app.evaluate(({ BrowserWindow }) => BrowserWindow.getFocusedWindow() !== null)
    expect(focused).toBe(true)
    expect(app.pages()).toHaveLength(1)
    expect(second.output()).toBe('')
  })

  test('closing the last window keeps it in the tray, and a click there brings it back', async () => {
    await closeAll()
    await expect.poll(() => app.pages().length, SOON).toBe(0)
    await app.evaluate(({ Tray }) => Tray.all[0]?.emit('click'))
    await expect.poll(() => app.pages().length, SOON).toBe(1)
    await app.page.waitForLoadState()
  })

  test('closing the last window ends it where it is not to stay in the tray', async () => {
    await call(app.page, 'settings.set', { key: 'keepInTray', value: false })
    await closeAll()
    expect(await app.exited).toEqual({ code: 0, signal: null })
  })
})

describe('one host for each data folder', () => {
  test('DT-A27 after kill -9 of the first a start succeeds at once', TWO_STARTS, async () => {
    using dir = createTempDir()
    const first = await launch({ home: dir.path })
    await first.kill('SIGKILL')
    const second = await launch({ home: dir.path })
    expect((await call(second.page, 'system.info', {})).dataDir).toBe(dir.path)
    expect(await second.quit()).toBe(0)
  })
})

describe('what cannot be opened', () => {
  const askedAndGone = async (home: string, response: number) => {
    const app = startProcess({ home, env: { STANDIN_MESSAGE_BOX: String(response) } })
    const exited = await app.exited
    return { ...exited, dialogs: app.farewell() }
  }

  test('DT-A28 a newer database: a dialog that says so, and nothing in it is written', TWO_STARTS, async () => {
    using dir = createTempDir()
    const today = await openPlatform({ dataDir: dir.path, migrations: hostMigrations })
    await today.close()
    const database = dir.at('wheelhouse.db')
    const db = new Sqlite(database)
    db.exec(`INSERT INTO schema_migrations VALUES ('runtime', 999, 'from_the_future', '${'0'.repeat(64)}', 1)`)
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
    const digest = (): string => createHash('sha256').update(readFileSync(database)).digest('hex')
    // SQLite makes the first two, empty, for whoever only reads; the others are the start's own.
    const files = (): string[] =>
      readdirSync(dir.path).filter((name) => !/-(?:shm|wal)$|^(?:electron|host\.lock)$/.test(name))
    const before = { digest: digest(), files: files() }
    const { code, dialogs } = await askedAndGone(dir.path, 0)
    expect(code).toBe(1)
    expect(dialogs).toMatchObject([
      {
        api: 'dialog.showMessageBox',
        args: [
          {
            message: expect.stringContaining('newer Wheelhouse'),
            detail: expect.stringContaining('schema_too_new'),
            buttons: ['Open data folder', 'Quit'],
          },
        ],
      },
      { api: 'shell.openPath', args: [dir.path] },
    ])
    expect({ digest: digest(), files: files() }).toEqual(before)
    expect(statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0)
  })

  test('a damaged database: a dialog that says so, and the file stays as it was', async () => {
    using dir = createTempDir()
    const home = dir.at('data')
    mkdirSync(home, { mode: 0o700 })
    writeFileSync(
      dir.at('data', 'wheelhouse.db'),
      'this is no database, and longer than a header of one would be'.repeat(20),
    )
    const before = readFileSync(dir.at('data', 'wheelhouse.db'), 'utf8')
    const { code, dialogs } = await askedAndGone(home, 1)
    expect(code).toBe(1)
    expect(dialogs).toMatchObject([{ args: [{ detail: expect.stringContaining('database_corrupt') }] }])
    expect(readFileSync(dir.at('data', 'wheelhouse.db'), 'utf8')).toBe(before)
  })

  test('a data folder that cannot be made: a dialog that names it', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('file'), '')
    const { code, dialogs } = await askedAndGone(dir.at('file', 'data'), 1)
    expect(code).toBe(1)
    expect(dialogs).toMatchObject([{ args: [{ detail: expect.stringContaining('data_dir_unwritable') }] }])
  })
})

describe('the end', () => {
  test('DT-A40 a clean quit in the middle of a run leaves no process and frees the folder', async () => {
    using dir = createTempDir()
    mkdirSync(dir.at('project'))
    const home = dir.at('data')
    const app = await launch({ home })
    await askFor(app, dir.at('project'), 'touch made')
    expect(processesOf(home).length).toBeGreaterThan(1)
    expect(await app.quit()).toBe(0)
    await expect.poll(() => processesOf(home), SOON).toEqual([])
    expect(existsSync(dir.at('project', 'made'))).toBe(false)
    expect(existsSync(dir.at('data', 'host.sock'))).toBe(false)
  })

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s ends the app in order', async (signal) => {
    using dir = createTempDir()
    const app = await launch({ home: dir.path })
    app.child.kill(signal)
    expect(await app.exited).toEqual({ code: 0, signal: null })
    expect(processesOf(dir.path)).toEqual([])
  })

  test('DT-A33 a bug that nobody caught is logged once with its cause, shown once, and ends the app', async () => {
    using dir = createTempDir()
    const app = await launch({ home: dir.path })
    await app.evaluate(() => {
      setTimeout(() => {
        throw new Error('a bug', { cause: new Error('its cause') })
      })
      void Promise.reject(new Error('another one'))
    })
    expect((await app.exited).code).toBe(1)
    const lines = readLog(dir.path).trim().split('\n')
    expect(lines.filter((line) => line.includes('an exception was not caught'))).toEqual([
      expect.stringContaining('its cause'),
    ])
    expect(processesOf(dir.path)).toEqual([])
  })
})
