/** The browser host: the renderer's files and the bridge over WebSocket, on loopback alone. */
export { startWebHost } from './web-host.ts'
export type { WebHost, WebHostDeps } from './web-host.ts'
export { createBrowserOpener } from './open-browser.ts'
