import type { MenuItemConstructorOptions } from 'electron'
import type { Bridge } from '../../shared/bridge/client.ts'
import type { GatewayClient, GatewayView } from '../../shared/bridge/index.ts'
import { desktop } from '../../shared/strings/desktop.ts'
import { decisionLine, shortened } from '../notifications/index.ts'
import type { Place } from '../notifications/index.ts'
import { watchAttention } from './attention.ts'
import type { Attention } from './attention.ts'
import type { ElectronApi } from './electron-api.ts'
import { trayIconPng } from './tray-icon.ts'
import type { TrayState } from './tray-icon.ts'

const LISTED = 5
const LABEL_CHARS = 60

export interface TrayView {
  state: TrayState
  /** How many decisions wait. */
  count: number
  tooltip: string
  items: readonly TrayItem[]
}

export type TrayItem =
  | { kind: 'takeover'; client: GatewayClient; label: string; checked: boolean }
  | { kind: 'open'; label: string; place: Place }
  | { kind: 'note'; label: string }
  | { kind: 'separator' }

/** What the tray shows: three states, a count, and where each entry leads. */
export function trayView({ pending, running, gateway }: Attention): TrayView {
  const items: TrayItem[] = []
  for (const decision of pending.slice(0, LISTED)) {
    const label = shortened(`${decision.sessionTitle}: ${decisionLine(decision)}`, LABEL_CHARS)
    items.push({ kind: 'open', label, place: { kind: 'approvals', decisionId: decision.decisionId } })
  }
  if (pending.length > LISTED) {
    const label = desktop.tray.more(pending.length - LISTED)
    items.push({ kind: 'open', label, place: { kind: 'approvals', decisionId: null } })
  }
  if (pending.length > 0) items.push({ kind: 'separator' })
  if (running.length > 0) items.push({ kind: 'note', label: desktop.tray.running })
  for (const session of running.slice(0, LISTED)) {
    const place: Place = { kind: 'session', sessionId: session.id }
    items.push({ kind: 'open', label: shortened(session.title, LABEL_CHARS), place })
  }
  if (running.length > LISTED) items.push({ kind: 'note', label: desktop.tray.more(running.length - LISTED) })
  if (running.length > 0) items.push({ kind: 'separator' })
  items.push(...takeoverItems(gateway))
  return { ...stateOf(pending.length, running.length), count: pending.length, items }
}

/** The tick is what is, never what was clicked. */
function takeoverItems(gateway: GatewayView | null): readonly TrayItem[] {
  if (gateway === null) return []
  const items = gateway.takeovers.map(({ client, state }): TrayItem => ({
    kind: 'takeover',
    client,
    label: desktop.tray.takeover(client, state),
    checked: state === 'active',
  }))
  return [...items, { kind: 'separator' }]
}

function stateOf(pending: number, running: number): { state: TrayState; tooltip: string } {
  const { tooltip } = desktop.tray
  if (pending > 0) return { state: 'waiting', tooltip: tooltip.waiting(pending) }
  if (running > 0) return { state: 'running', tooltip: tooltip.running(running) }
  return { state: 'idle', tooltip: tooltip.idle }
}

export interface TrayDeps {
  electron: Pick<ElectronApi, 'Tray' | 'Menu' | 'nativeImage'>
  platform: NodeJS.Platform
  bridge: Bridge
  open(place?: Place): void
  quit(): void
  /** What a click could not do is said by the system's notifications. */
  say(message: string): void
}

/**
 * The icon beside the clock; it opens what it lists and answers nothing by itself.
 * @throws whatever the system says where it has no tray.
 */
export function createTray({ electron, platform, bridge, open, quit, say }: TrayDeps): Disposable {
  const { Menu, nativeImage, Tray } = electron
  const isMac = platform === 'darwin'
  const image = (state: TrayState, count: number) => {
    const icon = nativeImage.createFromBuffer(trayIconPng(state, count), { scaleFactor: 2 })
    // On macOS the system colours it by the bar's own theme.
    icon.setTemplateImage(isMac)
    return icon
  }
  const tray = new Tray(image('idle', 0))
  let shown = ''

  /** Switching on shows its change first, in the window; switching off takes back what was shown then. */
  const toggle = async (client: GatewayClient, wasOn: boolean): Promise<void> => {
    // The system moved the tick itself when it was clicked: it goes back, and moves when the gateway says so.
    shown = ''
    render(last)
    if (!wasOn) return open({ kind: 'gateway' })
    try {
      await bridge.call('gateway.disable', { client })
    } catch (error) {
      say(error instanceof Error ? error.message : 'The gateway could not be switched.')
      open({ kind: 'gateway' })
    }
  }
  let last: Attention = { pending: [], running: [], gateway: null }

  const render = (attention: Attention): void => {
    last = attention
    const view = trayView(attention)
    const key = JSON.stringify(view)
    if (key === shown) return
    shown = key
    tray.setImage(image(view.state, view.count))
    tray.setToolTip(view.tooltip)
    if (isMac) tray.setTitle(view.count === 0 ? '' : String(view.count))
    tray.setContextMenu(
      Menu.buildFromTemplate([
        ...view.items.map((item) => menuItem(item, { open, toggle })),
        { label: desktop.tray.open, click: () => open() },
        { label: desktop.tray.quit, click: quit },
      ]),
    )
  }
  render({ pending: [], running: [], gateway: null })
  tray.on('click', () => {
    // On macOS a click opens the menu.
    if (!isMac) open()
  })
  const forget = watchAttention(bridge, render)
  return {
    [Symbol.dispose]() {
      forget()
      tray.destroy()
    },
  }
}

function menuItem(
  item: TrayItem,
  on: { open(place: Place): void; toggle(client: GatewayClient, wasOn: boolean): Promise<void> },
): MenuItemConstructorOptions {
  if (item.kind === 'separator') return { type: 'separator' }
  if (item.kind === 'note') return { label: item.label, enabled: false }
  if (item.kind === 'open') return { label: item.label, click: () => on.open(item.place) }
  const { client, label, checked } = item
  return { type: 'checkbox', label, checked, click: () => void on.toggle(client, checked) }
}
