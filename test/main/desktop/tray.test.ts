import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { trayIconPng } from '../../../src/main/desktop/tray-icon.ts'
import { createTray, trayView } from '../../../src/main/desktop/tray.ts'
import type { TrayDeps } from '../../../src/main/desktop/tray.ts'
import type { GatewayView, TakeoverView } from '../../../src/shared/bridge/index.ts'
import { AppError } from '../../../src/shared/errors.ts'
import { aDecision, aSession } from '../notifications/support.ts'

const running = [aSession(1, { state: 'running' })]

test.each([
  ['idle', { pending: [], running: [], gateway: null }, 'Wheelhouse: idle'],
  ['running', { pending: [], running, gateway: null }, 'Wheelhouse: 1 running'],
  ['waiting', { pending: [aDecision(1)], running, gateway: null }, 'Wheelhouse: 1 waiting for you'],
] as const)('the tray is %s, and says so', (state, attention, tooltip) => {
  expect(trayView(attention)).toMatchObject({ state, tooltip, count: attention.pending.length })
})

test('the menu lists at most five approvals, each leading to its own, and then the rest together', () => {
  const pending = Array.from({ length: 7 }, (_, at) => aDecision(at + 1))
  const places = trayView({ pending, running: [], gateway: null }).items.flatMap((item) =>
    item.kind === 'open' ? [item.place] : [],
  )
  expect(places).toEqual([
    ...pending.slice(0, 5).map(({ decisionId }) => ({ kind: 'approvals', decisionId })),
    { kind: 'approvals', decisionId: null },
  ])
})

test('the menu leads to the sessions that run', () => {
  const [, session] = trayView({ pending: [], running, gateway: null }).items
  expect(session).toEqual({
    kind: 'open',
    label: 'Session 1',
    place: { kind: 'session', sessionId: running[0]?.id },
  })
})

test('a label shows hidden characters and is short', () => {
  const action = { kind: 'command', command: `\u202E${'x'.repeat(500)}`, cwd: '/', wrapper: null } as const
  const [item] = trayView({ pending: [aDecision(1, { action })], running: [], gateway: null }).items
  const label = item?.kind === 'open' ? item.label : ''
  expect(label).toMatch(/^Session 1: \[U\+202E\]x+…$/)
  expect(label.length).toBeLessThanOrEqual(60)
})

test('the icon is a valid PNG whose shape tells the state and the count', () => {
  const pictures = [
    trayIconPng('idle', 0),
    trayIconPng('running', 0),
    trayIconPng('waiting', 1),
    trayIconPng('waiting', 2),
    trayIconPng('waiting', 12),
  ].map(opaqueMap)
  expect(new Set(pictures).size).toBe(5)
})

/** Which pixels are more than half covered, as text: colours left out. */
function opaqueMap(png: Buffer): string {
  expect(png.subarray(1, 4).toString()).toBe('PNG')
  const at = png.indexOf('IDAT')
  const rows = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)))
  expect(rows).toHaveLength(32 * (32 * 4 + 1))
  let map = ''
  for (let y = 0; y < 32; y++) {
    for (let x = 0; x < 32; x++) map += (rows[y * 129 + 1 + x * 4 + 3] ?? 0) > 127 ? '#' : '.'
  }
  return map
}

const takeover = {
  detail: null,
  warnings: [],
  configPath: '/c',
  kind: null,
  enabled: true,
  keepLogin: false,
  restoreAvailable: false,
}
const gatewayWith = (codex: TakeoverView['state'], claude: TakeoverView['state']): GatewayView => ({
  listening: true,
  address: '127.0.0.1:1',
  code: null,
  upstreams: { codex: null, claude: null },
  takeovers: [
    { ...takeover, client: 'codex', state: codex },
    { ...takeover, client: 'claude', state: claude },
  ],
})

test('DT-A16 the tick of an agent follows what is, and says when that is not whole', () => {
  const gateway = gatewayWith('active', 'drifted')
  const ticks = trayView({ pending: [], running: [], gateway }).items.flatMap((item) =>
    item.kind === 'takeover' ? [[item.label, item.checked]] : [],
  )
  expect(ticks).toEqual([
    ['Lead Codex to the gateway', true],
    ['Lead Claude Code to the gateway (drifted)', false],
  ])
})

test('DT-A16 a click never moves the tick: it opens the window, or waits for what the gateway says', async () => {
  const tray = openTray(gatewayWith('active', 'inactive'))
  tray.click('Claude Code')
  expect(tray.opened).toEqual([{ kind: 'gateway' }])
  expect(tray.ticks()).toEqual([true, false])

  tray.click('Codex')
  expect(tray.asked).toEqual([['gateway.disable', { client: 'codex' }]])
  expect(tray.ticks()).toEqual([true, false])
  tray.answer.reject(new AppError('takeover_config_unwritable', 'The file cannot be written.'))
  await expect.poll(() => tray.said).toEqual(['The file cannot be written.'])
  expect(tray.ticks()).toEqual([true, false])
  expect(tray.opened).toHaveLength(2)

  tray.publish(gatewayWith('inactive', 'inactive'))
  expect(tray.ticks()).toEqual([false, false])
})

interface MenuEntry {
  label?: string
  type?: string
  checked?: boolean
  click?: () => void
}

/** A tray as the system shows it: a click moves the tick of a checkbox by itself, and then tells. */
function openTray(first: GatewayView) {
  const opened: unknown[] = []
  const said: string[] = []
  const asked: unknown[] = []
  const answer = Promise.withResolvers<never>()
  let publish: (view: GatewayView) => void = () => undefined
  let menu: MenuEntry[] = []
  const boxes = () => menu.filter(({ type }) => type === 'checkbox')
  class Tray {
    setImage(): void {}
    setToolTip(): void {}
    setContextMenu(items: MenuEntry[]): void {
      menu = items
    }
    on(): void {}
  }
  createTray({
    electron: {
      Tray,
      Menu: { buildFromTemplate: (items: MenuEntry[]) => items.map((item) => ({ ...item })) },
      nativeImage: { createFromBuffer: () => ({ setTemplateImage: () => undefined }) },
    } as unknown as TrayDeps['electron'],
    platform: 'linux',
    bridge: {
      async call(name: string, input: unknown) {
        asked.push([name, input])
        return answer.promise
      },
      subscribe(name: string, _filter: unknown, observer: { event(event: unknown): void }) {
        if (name === 'gateway') {
          publish = observer.event
          publish(first)
        }
        return () => undefined
      },
    } as unknown as TrayDeps['bridge'],
    open: (place) => opened.push(place),
    quit: () => undefined,
    say: (message) => said.push(message),
  })
  return {
    opened,
    said,
    asked,
    answer,
    publish: (view: GatewayView) => publish(view),
    ticks: () => boxes().map(({ checked }) => checked),
    click(agent: string) {
      const item = boxes().find(({ label }) => label?.includes(agent))
      if (item === undefined) throw new Error(`no entry of ${agent}`)
      item.checked = item.checked !== true
      item.click?.()
    },
  }
}
