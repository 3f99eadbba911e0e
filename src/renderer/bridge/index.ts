/** The renderer's one way to the host: the preload in the app, a WebSocket in a browser. */
import type { Bridge } from '../../shared/bridge/client.ts'
import { connectByPreload } from './electron.ts'
import { connectBySocket } from './socket.ts'

export { BridgeProvider, useBridge, useBridgeStatus, useCall, useChange } from './react.tsx'
export { useIsFrail } from './useIsFrail.ts'
export { useAsking } from './useAsking.ts'
export type { Asking } from './useAsking.ts'
export type { Bridge } from '../../shared/bridge/client.ts'

export function connectBridge(page: Window): Bridge {
  return page.wheelhouse === undefined ? connectBySocket(page) : connectByPreload(page.wheelhouse)
}
