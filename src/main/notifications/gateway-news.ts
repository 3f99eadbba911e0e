import type { Bridge } from '../../shared/bridge/client.ts'
import type { TakeoverView } from '../../shared/bridge/index.ts'
import { desktop } from '../../shared/strings/desktop.ts'
import type { Clock } from '../platform/index.ts'
import type { Announcer } from './announcer.ts'
import type { Place } from './places.ts'
import type { Card } from './types.ts'

/** At the start the gateway takes up what it had, and mends what can be: what stands after that is news. */
const STARTED_MS = 10_000

/** Tells when an agent that was led to the gateway no longer is; takes it back when that is mended. */
export function createGatewayNews(deps: {
  clock: Clock
  bridge: Bridge
  announcer: Announcer
  isQuiet(): boolean
  open(place: Place): void
}): Disposable {
  const { clock, bridge, announcer, isQuiet, open } = deps
  const states = new Map<TakeoverView['client'], TakeoverView['state']>()
  const standing = new Map<TakeoverView['client'], () => void>()

  const tell = (client: TakeoverView['client']): void => {
    const body = desktop.notifications.takeover(states.get(client) ?? 'inactive')
    if (body === null || isQuiet()) return
    const title = desktop.notifications.takeoverOf(client)
    const card: Card = { tag: `gateway:${client}`, about: 'news', title, body, buttons: [] }
    standing.set(client, announcer.announce({ card, clicked: () => open({ kind: 'gateway' }) }))
  }

  let starting: Disposable | null = clock.after(STARTED_MS, () => {
    starting = null
    for (const client of states.keys()) tell(client)
  })

  const look = ({ client, state }: TakeoverView): void => {
    if (states.get(client) === state) return
    states.set(client, state)
    standing.get(client)?.()
    standing.delete(client)
    if (starting === null) tell(client)
  }

  const forget = bridge.subscribe('gateway', {}, { event: (view) => view.takeovers.forEach(look) })
  return {
    [Symbol.dispose]() {
      starting?.[Symbol.dispose]()
      forget()
    },
  }
}
