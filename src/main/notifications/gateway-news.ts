import type { Bridge } from '../../shared/bridge/client.ts'
import type { TakeoverView } from '../../shared/bridge/index.ts'
import { desktop } from '../../shared/strings/desktop.ts'
import type { Announcer } from './announcer.ts'
import type { Place } from './places.ts'
import type { Card } from './types.ts'

/** Tells when an agent that was led to the gateway no longer is; takes it back when that is mended. */
export function createGatewayNews(deps: {
  bridge: Bridge
  announcer: Announcer
  isQuiet(): boolean
  open(place: Place): void
}): Disposable {
  const states = new Map<TakeoverView['client'], TakeoverView['state']>()
  const standing = new Map<TakeoverView['client'], () => void>()

  const look = ({ client, state }: TakeoverView): void => {
    const before = states.get(client)
    states.set(client, state)
    if (before === state) return
    standing.get(client)?.()
    standing.delete(client)
    const body = desktop.notifications.takeover(state)
    if (body === null || before === undefined || deps.isQuiet()) return
    const title = desktop.notifications.takeoverOf(client)
    const card: Card = { tag: `gateway:${client}`, about: 'news', title, body, buttons: [] }
    standing.set(client, deps.announcer.announce({ card, clicked: () => deps.open({ kind: 'gateway' }) }))
  }

  const forget = deps.bridge.subscribe('gateway', {}, { event: (view) => view.takeovers.forEach(look) })
  return { [Symbol.dispose]: forget }
}
