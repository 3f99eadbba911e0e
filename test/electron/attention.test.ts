import { existsSync, mkdirSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTempDir } from '../support/dir.ts'
import type { TempDir } from '../support/dir.ts'
import { launchApp } from './launch.ts'
import type { LaunchedApp } from './launch.ts'
import { askFor, call, SOON } from './support.ts'

let home: TempDir
let app: LaunchedApp

// Two apps for five tests: no more than six cards are shown in a minute.
async function startApp(): Promise<void> {
  home = createTempDir()
  mkdirSync(home.at('project'))
  app = await launchApp({ home: home.at('data') })
}
async function endApp(): Promise<void> {
  await app?.quit()
  home[Symbol.dispose]()
}

const tray = () =>
  app.evaluate(({ Tray }) => {
    const [tray] = Tray.all
    return { toolTip: tray?.toolTip ?? '', labels: tray?.menu?.items.map(({ label }) => label) ?? [] }
  })
const toolTip = async (): Promise<string> => (await tray()).toolTip
const approvals = () =>
  app.evaluate(({ Notification }) =>
    Notification.shown.filter(({ options }) => options.title?.endsWith('wants to go on')).map(({ options }) => options),
  )
const places = () =>
  app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map(({ webContents }) => webContents.getURL()))

describe('the tray and the notifications', () => {
  beforeAll(startApp)
  afterAll(endApp)
  beforeEach(() => app.evaluate(({ BrowserWindow }) => BrowserWindow.blurAll()))

  test('the tray is idle, then says what waits, opens it, and is idle again', async () => {
    await expect.poll(toolTip, SOON).toBe('Wheelhouse: idle')
    const decision = await askFor(app, home.at('project'), 'touch from-tray')
    await expect.poll(toolTip, SOON).toBe('Wheelhouse: 1 waiting for you')
    const { labels } = await tray()
    expect(labels[0]).toContain('touch from-tray')
    expect(labels.slice(-2)).toEqual(['Open Wheelhouse', 'Quit'])
    await app.evaluate(({ Tray }) => Tray.all[0]?.menu?.items[0]?.click())
    await expect.poll(places, SOON).toEqual([`app://wheelhouse/#/approvals/${decision.decisionId}`])
    const { decisionId } = decision
    await call(app.page, 'decisions.resolve', { decisionId, answer: { option: 'reject_once' } })
    await expect.poll(toolTip, SOON).toBe('Wheelhouse: idle')
    expect(existsSync(home.at('project', 'from-tray'))).toBe(false)
  })

  test('an approval becomes a notification that goes when a window answers it', async () => {
    const { decisionId } = await askFor(app, home.at('project'), 'touch withdrawn')
    await expect.poll(approvals, SOON).toEqual([expect.objectContaining({ body: 'touch withdrawn' })])
    await call(app.page, 'decisions.resolve', { decisionId, answer: { option: 'reject_once' } })
    await expect.poll(approvals, SOON).toEqual([])
  })

  test('a click opens exactly its decision, also when no window is left', async () => {
    const { decisionId } = await askFor(app, home.at('project'), 'touch clicked')
    await expect.poll(async () => (await approvals()).length, SOON).toBe(1)
    await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().forEach((window) => window.close()))
    await expect.poll(() => app.pages().length, SOON).toBe(0)
    await app.evaluate(({ Notification }) =>
      Notification.shown.find(({ options }) => options.body === 'touch clicked')?.click(),
    )
    await expect.poll(places, SOON).toEqual([`app://wheelhouse/#/approvals/${decisionId}`])
    await expect.poll(() => app.pages().length, SOON).toBe(1)
    await app.page.waitForLoadState()
    await call(app.page, 'decisions.resolve', { decisionId, answer: { option: 'reject_once' } })
    await expect.poll(toolTip, SOON).toBe('Wheelhouse: idle')
  })
})

describe('the buttons of a notification', () => {
  beforeAll(startApp)
  afterAll(endApp)
  beforeEach(() => app.evaluate(({ BrowserWindow }) => BrowserWindow.blurAll()))

  test('DT-A05 Allow once answers it: the command runs, and the decision names the notification', async () => {
    const { sessionId } = await askFor(app, home.at('project'), 'touch allowed')
    await expect.poll(async () => (await approvals()).length, SOON).toBe(1)
    await app.evaluate(({ Notification }) =>
      Notification.shown.find(({ options }) => options.body === 'touch allowed')?.press(0),
    )
    await expect.poll(() => existsSync(home.at('project', 'allowed')), SOON).toBe(true)
    const { decisions } = await call(app.page, 'decisions.history', { sessionId })
    expect(decisions).toMatchObject([{ answer: { option: 'allow_once' }, by: { via: 'notification' } }])
  })

  test('DT-A05 Deny answers it: the command does not run; a button pressed again says so', async () => {
    const { sessionId, decisionId } = await askFor(app, home.at('project'), 'touch denied')
    await expect.poll(async () => (await approvals()).length, SOON).toBe(1)
    await app.evaluate(({ Notification }) => {
      const card = Notification.shown.find(({ options }) => options.body === 'touch denied')
      card?.press(1)
      card?.press(0)
    })
    const bodies = () => app.evaluate(({ Notification }) => Notification.shown.map(({ options }) => options.body))
    await expect.poll(bodies, SOON).toContain('Denied before, by a notification.')
    const { decisions } = await call(app.page, 'decisions.history', { sessionId })
    expect(decisions).toMatchObject([{ decisionId, answer: { option: 'reject_once' }, by: { via: 'notification' } }])
    expect(existsSync(home.at('project', 'denied'))).toBe(false)
  })
})
