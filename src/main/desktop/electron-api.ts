import type * as Electron from 'electron'

/** What the shell uses of Electron's main process, handed in by the entry. */
export type ElectronApi = Pick<
  typeof Electron,
  | 'app'
  | 'BrowserWindow'
  | 'dialog'
  | 'ipcMain'
  | 'Menu'
  | 'nativeImage'
  | 'nativeTheme'
  | 'Notification'
  | 'powerMonitor'
  | 'protocol'
  | 'session'
  | 'shell'
  | 'Tray'
>
