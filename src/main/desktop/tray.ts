import type { MenuItemConstructorOptions } from 'electron'
import type { Bridge } from '../../shared/bridge/client.ts'
import { watchAttention } from './attention.ts'
import type { Attention } from './attention.ts'
import type { ElectronApi } from './electron-api.ts'
import { decisionLine, shortened } from './notification-text.ts'
import type { Place } from './places.ts'
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

type TrayItem = { kind: 'open'; label: string; place: Place } | { kind: 'note'; label: string } | { kind: 'separator' }

/** What the tray shows: three states, a count, and where each entry leads. */
export function trayView({ pending, running }: Attention): TrayView {
  const items: TrayItem[] = []
  for (const decision of pending.slice(0, LISTED)) {
    const label = shortened(`${decision.sessionTitle}: ${decisionLine(decision)}`, LABEL_CHARS)
    items.push({ kind: 'open', label, place: { kind: 'approvals', decisionId: decision.decisionId } })
  }
  if (pending.length > LISTED) {
    const label = `${pending.length - LISTED} more`
    items.push({ kind: 'open', label, place: { kind: 'approvals', decisionId: null } })
  }
  if (pending.length > 0) items.push({ kind: 'separator' })
  if (running.length > 0) items.push({ kind: 'note', label: 'Running' })
  for (const session of running.slice(0, LISTED)) {
    const place: Place = { kind: 'session', sessionId: session.id }
    items.push({ kind: 'open', label: shortened(session.title, LABEL_CHARS), place })
  }
  if (running.length > LISTED) items.push({ kind: 'note', label: `${running.length - LISTED} more` })
  if (running.length > 0) items.push({ kind: 'separator' })
  return { ...stateOf(pending.length, running.length), count: pending.length, items }
}

function stateOf(pending: number, running: number): { state: TrayState; tooltip: string } {
  if (pending > 0) return { state: 'waiting', tooltip: `Wheelhouse: ${pending} waiting for you` }
  if (running > 0) return { state: 'running', tooltip: `Wheelhouse: ${running} running` }
  return { state: 'idle', tooltip: 'Wheelhouse: idle' }
}

export interface TrayDeps {
  electron: Pick<ElectronApi, 'Tray' | 'Menu' | 'nativeImage'>
  platform: NodeJS.Platform
  bridge: Bridge
  open(place?: Place): void
  quit(): void
}

/**
 * The icon beside the clock; it opens what it lists and answers nothing by itself.
 * @throws whatever the system says where it has no tray.
 */
export function createTray({ electron, platform, bridge, open, quit }: TrayDeps): Disposable {
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

  const render = (attention: Attention): void => {
    const view = trayView(attention)
    const key = JSON.stringify(view)
    if (key === shown) return
    shown = key
    tray.setImage(image(view.state, view.count))
    tray.setToolTip(view.tooltip)
    if (isMac) tray.setTitle(view.count === 0 ? '' : String(view.count))
    tray.setContextMenu(
      Menu.buildFromTemplate([
        ...view.items.map((item) => menuItem(item, open)),
        { label: 'Open Wheelhouse', click: () => open() },
        { label: 'Quit', click: quit },
      ]),
    )
  }
  render({ pending: [], running: [] })
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

function menuItem(item: TrayItem, open: (place: Place) => void): MenuItemConstructorOptions {
  if (item.kind === 'separator') return { type: 'separator' }
  if (item.kind === 'note') return { label: item.label, enabled: false }
  return { label: item.label, click: () => open(item.place) }
}
