/** Menus, tray, notifications, dialogs: fakes that write down what was asked of them, and can be poked. */
import { EventEmitter } from 'node:events'
import type { MenuItemConstructorOptions, NotificationConstructorOptions } from 'electron'
import { app } from './app.ts'
import { note, recorded } from './record.ts'

export interface MenuItem {
  label: string
  role: string | undefined
  enabled: boolean
  submenu: Menu | null
  click(): void
}

export class Menu {
  static applicationMenu: Menu | null = null
  readonly items: readonly MenuItem[]
  constructor(items: readonly MenuItem[] = []) {
    this.items = items
  }
  static buildFromTemplate(template: readonly MenuItemConstructorOptions[]): Menu {
    return new Menu(template.map(menuItem))
  }
  static setApplicationMenu(menu: Menu | null): void {
    Menu.applicationMenu = menu
  }
}

function menuItem({ label, role, type, enabled, submenu, click }: MenuItemConstructorOptions): MenuItem {
  const press = click as (() => void) | undefined
  return {
    label: type === 'separator' ? '-' : (label ?? role ?? ''),
    role,
    enabled: enabled !== false,
    submenu: Array.isArray(submenu) ? Menu.buildFromTemplate(submenu) : null,
    click: () => press?.(),
  }
}

interface Image {
  bytes: number
}

export class Tray extends EventEmitter {
  static all: Tray[] = []
  image: Image
  toolTip = ''
  title = ''
  menu: Menu | null = null
  constructor(image: Image) {
    super()
    app.mustBeReady('Cannot create Tray')
    this.image = image
    Tray.all.push(this)
  }
  setImage(image: Image): void {
    this.image = image
  }
  setToolTip(text: string): void {
    this.toolTip = text
  }
  setTitle(text: string): void {
    this.title = text
  }
  setContextMenu(menu: Menu): void {
    this.menu = menu
  }
  destroy(): void {
    Tray.all = Tray.all.filter((tray) => tray !== this)
  }
}

export class Notification extends EventEmitter {
  /** Those that stand, oldest first. */
  static shown: Notification[] = []
  static isSupported = (): boolean => true
  readonly options: NotificationConstructorOptions
  constructor(options: NotificationConstructorOptions) {
    super()
    this.options = options
  }
  show(): void {
    note('notification.show', this.options.title, this.options.body)
    Notification.shown.push(this)
    this.emit('show', {})
  }
  close(): void {
    if (!Notification.shown.includes(this)) return
    note('notification.close', this.options.title)
    Notification.shown = Notification.shown.filter((each) => each !== this)
    this.emit('close', {})
  }
  /** As a person does; the system then puts the card away. */
  press(button: number): void {
    this.emit('action', { actionIndex: button, selectionIndex: -1 }, button)
    this.close()
  }
  click(): void {
    this.emit('click', {})
    this.close()
  }
}

export const nativeImage = {
  createEmpty: () => ({ bytes: 0 }),
  createFromBuffer: (buffer: Buffer) => ({ bytes: buffer.length, setTemplateImage: () => {} }),
}

type PermissionHandler = (contents: unknown, permission: string, answer: (granted: boolean) => void) => void
const permissions: { request: PermissionHandler | null; check: (() => boolean) | null } = { request: null, check: null }

const defaultSession = recorded('session', {
  setPermissionRequestHandler: (handler: PermissionHandler) => {
    permissions.request = handler
  },
  setPermissionCheckHandler: (handler: () => boolean) => {
    permissions.check = handler
  },
  setDevicePermissionHandler: () => {},
})

export const session = {
  get defaultSession() {
    app.mustBeReady('Session can only be received')
    return defaultSession
  },
}

/** What Chromium asks of the app when a page wants a permission. Without a handler Electron grants. */
export function askPermission(permission: string): Promise<boolean> {
  const { request } = permissions
  if (request === null) return Promise.resolve(true)
  return new Promise((resolve) => request({}, permission, resolve))
}

/** What the next dialogs answer. */
export const answers = {
  showMessageBox: { response: Number(process.env['STANDIN_MESSAGE_BOX'] ?? 1), checkboxChecked: false },
  showOpenDialog: { canceled: true, filePaths: [] as string[] },
}

export const dialog = recorded('dialog', {
  showMessageBox: () => Promise.resolve(answers.showMessageBox),
  showOpenDialog: () => Promise.resolve(answers.showOpenDialog),
  showErrorBox: () => {},
})

export const shell = recorded('shell', {
  openExternal: () => Promise.resolve(),
  openPath: () => Promise.resolve(''),
})
