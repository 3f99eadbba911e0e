/** The Electron shell: windows, tray, menu, notifications, and the bridge over Electron's IPC. */
export { startDesktop } from './start.ts'
