/**
 * What `electron` means to the built main under Node. Windows are pages of a real Chromium; all else writes down what was
 * asked of it. An API that the app uses and that is missing here fails when the app is linked.
 */
import { app } from './app.ts'
import { BrowserWindow } from './browser-window.ts'
import { calls } from './record.ts'
import { answers, askPermission, dialog, Menu, nativeImage, Notification, session, shell, Tray } from './system.ts'

export { app } from './app.ts'
export { BrowserWindow } from './browser-window.ts'
export { ipcMain } from './ipc-main.ts'
export { nativeTheme } from './native-theme.ts'
export { powerMonitor } from './power-monitor.ts'
export { protocol } from './scheme.ts'
export { dialog, Menu, nativeImage, Notification, session, shell, Tray } from './system.ts'

/** For tests. */
export const standin = {
  app,
  answers,
  askPermission,
  BrowserWindow,
  calls,
  dialog,
  Menu,
  nativeImage,
  Notification,
  session,
  shell,
  Tray,
}
