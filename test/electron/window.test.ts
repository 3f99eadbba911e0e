import { mkdirSync, readFileSync } from 'node:fs'
import { imageSize } from 'image-size'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CONTENT_SECURITY_POLICY } from '../../src/main/renderer-files/index.ts'
import { createTempDir } from '../support/dir.ts'
import { launchApp } from './launch.ts'
import type { LaunchedApp } from './launch.ts'
import { call, SOON } from './support.ts'

const home = createTempDir()
let app: LaunchedApp

beforeAll(async () => {
  mkdirSync(home.at('project'))
  app = await launchApp({ home: home.at('data') })
})
afterAll(async () => {
  await app?.quit()
  home[Symbol.dispose]()
})

describe('the window', () => {
  test('shows the interface over app://, under its content policy', async () => {
    const urls = await app.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows().map(({ webContents }) => webContents.getURL()),
    )
    expect(urls).toEqual([expect.stringMatching(/^app:\/\/wheelhouse\//)])
    const answer = await app.page.evaluate(async () => {
      const { headers, status } = await fetch('/')
      return { status, policy: headers.get('content-security-policy') }
    })
    expect(answer).toEqual({ status: 200, policy: CONTENT_SECURITY_POLICY })
    await app.page.locator('#root > *').first().waitFor({ state: 'attached' })
  })

  test('serves nothing outside of the built renderer', async () => {
    const statuses = await app.page.evaluate(() =>
      Promise.all(
        ['/../main/index.js', '/%2e%2e/main/index.js', '/..%5cmain%5cindex.js', '/index.html%00', '/nothing.js'].map(
          async (path) => (await fetch(path)).status,
        ),
      ),
    )
    expect(statuses).toEqual([404, 404, 404, 404, 404])
  })

  test('exposes exactly call, subscribe and onGeneration, frozen, and nothing of Node or Electron', async () => {
    const seen = await app.page.evaluate(() => {
      const page = window as unknown as Record<string, object>
      const port = page['wheelhouse'] ?? {}
      return {
        members: Object.entries(port).map(([name, value]) => [name, typeof value]),
        frozen: Object.isFrozen(port),
        leaks: ['require', 'process', 'module', 'ipcRenderer', 'electron', '__standin'].filter((name) => name in page),
      }
    })
    expect(seen).toEqual({
      members: [
        ['call', 'function'],
        ['subscribe', 'function'],
        ['onGeneration', 'function'],
      ],
      frozen: true,
      leaks: [],
    })
  })

  test('has the product’s picture where windows are listed', async () => {
    const [icon] = await app.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows().map(({ options }) => (typeof options.icon === 'string' ? options.icon : '')),
    )
    const picture = readFileSync(icon ?? '')
    expect(imageSize(picture)).toMatchObject({ type: 'png', width: 512, height: 512 })
  })

  test('is made sandboxed and isolated, without devtools', async () => {
    const preferences = await app.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows().map(({ options }) => options.webPreferences),
    )
    expect(preferences).toEqual([
      expect.objectContaining({
        contextIsolation: true,
        sandbox: true,
        nodeIntegration: false,
        webviewTag: false,
        webSecurity: true,
        devTools: false,
      }),
    ])
  })

  test('reaches the host: calls are answered, a topic begins whole and then brings what changes', async () => {
    expect(await call(app.page, 'system.info', {})).toMatchObject({ host: 'electron', canPickFolder: true })
    await app.page.evaluate(() => {
      const page = window as unknown as { wheelhouse: { subscribe(...args: unknown[]): void }; events: unknown[] }
      page.events = []
      const push = (event: unknown): void => void page.events.push(event)
      page.wheelhouse.subscribe('sessions', {}, {}, push, () => {})
    })
    const events = () => app.page.evaluate(() => (window as unknown as { events: { kind: string }[] }).events)
    await expect.poll(events, SOON).toEqual([expect.objectContaining({ kind: 'snapshot' })])
    const session = await call(app.page, 'sessions.create', { agentId: 'builtin', workDir: home.at('project') })
    const changed = expect.objectContaining({ kind: 'changed', session: expect.objectContaining({ id: session.id }) })
    await expect.poll(events, SOON).toContainEqual(changed)
  })

  test('DT-A06 is served again after a reload, under a new generation', async () => {
    const generation = () =>
      app.page.evaluate(
        () =>
          new Promise<string>((resolve) => {
            const page = window as unknown as {
              wheelhouse: { onGeneration(told: (hello: { generation: string }) => void): void }
            }
            page.wheelhouse.onGeneration((hello) => resolve(hello.generation))
          }),
      )
    const before = await generation()
    await app.page.reload()
    const after = await generation()
    expect(after).not.toBe(before)
    expect(await call(app.page, 'decisions.pending', {})).toEqual({ decisions: [] })
  })

  test('follows the theme that was chosen', async () => {
    await call(app.page, 'settings.set', { key: 'theme', value: 'dark' })
    const dark = () => app.page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)
    await expect.poll(dark, SOON).toBe(true)
    await call(app.page, 'settings.set', { key: 'theme', value: 'system' })
  })

  test('asks the system for a folder', async () => {
    await app.evaluate(({ standin }) => {
      standin.answers.showOpenDialog = { canceled: false, filePaths: ['/chosen'] }
    })
    expect(await call(app.page, 'system.pickFolder', {})).toEqual({ path: '/chosen' })
  })

  test('opens once more from the menu, and each is served', async () => {
    await app.evaluate(({ Menu }) => {
      const items = Menu.applicationMenu?.items.flatMap(({ submenu }) => submenu?.items ?? []) ?? []
      items.find(({ label }) => label === 'New Window')?.click()
    })
    await expect.poll(() => app.pages().length, SOON).toBe(2)
    const [, second] = app.pages()
    await second?.waitForLoadState()
    expect(second && (await call(second, 'system.info', {})).host).toBe('electron')
    await second?.close()
  })

  test('has no item for developers in its menu', async () => {
    const roles = await app.evaluate(({ Menu }) =>
      (Menu.applicationMenu?.items ?? []).flatMap(({ submenu }) => (submenu?.items ?? []).map(({ role }) => role)),
    )
    expect(roles).toContain('zoomIn')
    expect(roles).not.toContain('toggleDevTools')
  })

  test('logs no error in its console', async () => {
    const errors = await app.evaluate(({ standin }) =>
      standin.calls.filter(({ api, args }) => api === 'pageerror' || (api === 'console' && args[0] === 'error')),
    )
    // The paths that are not there were asked for above.
    expect(errors.filter(({ args }) => !String(args[1]).includes('404'))).toEqual([])
  })
})
