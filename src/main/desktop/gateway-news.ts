import type { Bridge } from '../../shared/bridge/client.ts'
import type { TakeoverView } from '../../shared/bridge/index.ts'
import type { Announcer } from './announcer.ts'
import type { Place } from './places.ts'

const NAMES: Readonly<Record<TakeoverView['client'], string>> = { codex: 'Codex', claude: 'Claude Code' }
const SAID: Readonly<Partial<Record<TakeoverView['state'], string>>> = {
  drifted: 'Its config file was changed and may no longer lead to the gateway',
  broken: 'It is led to a gateway that it cannot reach',
}

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
    const body = SAID[state]
    if (body === undefined || before === undefined || deps.isQuiet()) return
    const card = { title: NAMES[client], body, buttons: [] }
    const clicked = (): void => deps.open({ kind: 'gateway' })
    standing.set(client, deps.announcer.announce({ about: 'news', card, clicked }))
  }

  const forget = deps.bridge.subscribe('gateway', {}, { event: (view) => view.takeovers.forEach(look) })
  return { [Symbol.dispose]: forget }
}
