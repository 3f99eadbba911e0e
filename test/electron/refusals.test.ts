import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTempDir } from '../support/dir.ts'
import { launchApp } from './launch.ts'
import type { LaunchedApp } from './launch.ts'
import { call, readLog, SOON } from './support.ts'

const CHANNEL = 'wheelhouse:invoke'
const home = createTempDir()
let app: LaunchedApp
let foreign: Server
let foreignUrl: string

beforeAll(async () => {
  foreign = createServer((_request, response) => response.end('<title>elsewhere</title>')).listen(0, '127.0.0.1')
  await new Promise((resolve) => foreign.once('listening', resolve))
  foreignUrl = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`
  // Every frame of a page can speak to main, as in a renderer that an attacker took over.
  app = await launchApp({ home: home.path, env: { STANDIN_COMPROMISED: '1' } })
})
afterAll(async () => {
  await app?.quit()
  foreign?.close()
  home[Symbol.dispose]()
})

interface Compromised {
  compromisedInvoke(channel: string, message: unknown): Promise<unknown>
}

const openFrom = (frame: Pick<Frame, 'evaluate'>): Promise<unknown> =>
  frame.evaluate((channel) => (window as unknown as Compromised).compromisedInvoke(channel, { open: true }), CHANNEL)

const REFUSED = { ok: false, error: expect.objectContaining({ code: 'sender_refused' }) }
const refusals = (): number => readLog(home.path).split('an IPC call was refused').length - 1

async function expectRefused(answer: Promise<unknown>): Promise<void> {
  const before = refusals()
  expect(await answer).toEqual(REFUSED)
  await expect.poll(refusals, SOON).toBe(before + 1)
}

/** A window of its own that shows `url`; `mine`: made by the app, else by somebody with the same preload. */
async function anotherWindow(url: string, mine: boolean): Promise<Frame> {
  const title = await app.evaluate(
    async ({ BrowserWindow, Menu }, { url, mine }) => {
      const before = BrowserWindow.getAllWindows()
      const items = Menu.applicationMenu?.items.flatMap(({ submenu }) => submenu?.items ?? []) ?? []
      if (mine) items.find(({ label }) => label === 'New Window')?.click()
      const window = mine ? BrowserWindow.getAllWindows().at(-1) : new BrowserWindow(before[0]?.options)
      const page = await window?.page
      await window?.loadURL(url)
      return page?.evaluate(() => (document.title = `window ${Math.random()}`))
    },
    { url, mine },
  )
  for (const context of app.browser.contexts()) {
    for (const page of context.pages()) if ((await page.title()) === title) return page.mainFrame()
  }
  throw new Error('the window is not there')
}

describe('DT-A25 a call', () => {
  test('DT-A25 from the page itself is answered', async () => {
    expect((await call(app.page, 'system.info', {})).host).toBe('electron')
  })

  test('DT-A25 from a subframe of it is refused and logged', async () => {
    await app.page.evaluate(() => {
      const frame = document.createElement('iframe')
      frame.name = 'inner'
      document.body.append(frame)
    })
    await expect.poll(() => app.page.frame('inner') !== null, SOON).toBe(true)
    const inner = app.page.frame('inner')
    if (inner === null) throw new Error('there is no frame')
    await expectRefused(openFrom(inner))
  })

  test('DT-A25 from about:blank is refused and logged', async () => {
    await expectRefused(openFrom(await anotherWindow('about:blank', true)))
  })

  test('DT-A25 from another origin in a window of the app is refused and logged', async () => {
    await expectRefused(openFrom(await anotherWindow(foreignUrl, true)))
  })

  test('DT-A25 from a window that the app did not make is refused and logged, whatever it shows', async () => {
    await expectRefused(openFrom(await anotherWindow('app://wheelhouse/', false)))
  })
})

describe('DT-A25 a page', () => {
  test('DT-A25 cannot open a window; an https link leaves through the system’s browser', async () => {
    const count = app.pages().length
    await app.page.evaluate((url) => {
      window.open(url)
      window.open('app://wheelhouse/')
      window.open('https://example.com/docs')
    }, foreignUrl)
    const asked = () =>
      app.evaluate(({ standin }) => standin.calls.flatMap(({ api, args }) => (api === 'window.open' ? [args[1]] : [])))
    await expect.poll(asked, SOON).toEqual([{ action: 'deny' }, { action: 'deny' }, { action: 'deny' }])
    const outside = await app.evaluate(({ standin }) =>
      standin.calls.flatMap(({ api, args }) => (api === 'shell.openExternal' ? args : [])),
    )
    expect(outside).toEqual(['https://example.com/docs'])
    await expect.poll(() => app.pages().length, SOON).toBe(count)
  })

  test('DT-A25 cannot navigate away', async () => {
    const before = app.page.url()
    await app.page.evaluate((url) => {
      window.location.href = url
    }, foreignUrl)
    const refused = () =>
      app.evaluate(({ standin }) =>
        standin.calls.flatMap(({ api, args }) => (api === 'will-navigate' && args[1] === true ? [args[0]] : [])),
      )
    await expect.poll(refused, SOON).toEqual([foreignUrl])
    expect(app.page.url()).toBe(before)
  })

  test('DT-A25 cannot show another page in a frame', async () => {
    const violations = await app.page.evaluate(
      (url) =>
        new Promise<string[]>((resolve) => {
          document.addEventListener('securitypolicyviolation', (event) => resolve([event.effectiveDirective]))
          const frame = document.createElement('iframe')
          frame.src = url
          document.body.append(frame)
        }),
      foreignUrl,
    )
    expect(violations).toEqual(['frame-src'])
  })

  test('DT-A25 gets no permission', async () => {
    const granted = await app.evaluate(({ standin }) =>
      Promise.all(
        ['geolocation', 'media', 'notifications', 'clipboard-read', 'openExternal'].map(standin.askPermission),
      ),
    )
    expect(granted).toEqual([false, false, false, false, false])
  })

  test('DT-A25 cannot embed a webview', async () => {
    const prevented = await app.evaluate(({ BrowserWindow }) => {
      const event = { defaultPrevented: false, preventDefault: () => (event.defaultPrevented = true) }
      BrowserWindow.getAllWindows()[0]?.webContents.emit('will-attach-webview', event, {}, {})
      return event.defaultPrevented
    })
    expect(prevented).toBe(true)
  })
})
