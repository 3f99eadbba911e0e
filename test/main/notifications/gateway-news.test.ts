import { expect, test } from 'vitest'
import { createAnnouncer } from '../../../src/main/notifications/announcer.ts'
import { createGatewayNews } from '../../../src/main/notifications/gateway-news.ts'
import type { TakeoverView } from '../../../src/shared/bridge/index.ts'
import { createFakeClock } from '../../support/clock.ts'
import { createFakeBridge, createFakeNotifications } from './support.ts'

function setUp(isQuiet = false) {
  const clock = createFakeClock()
  const bridge = createFakeBridge()
  const port = createFakeNotifications()
  const announcer = createAnnouncer({ clock, port, openSummary: () => {} })
  const opened: unknown[] = []
  const news = createGatewayNews({
    clock,
    bridge,
    announcer,
    isQuiet: () => isQuiet,
    open: (place) => opened.push(place),
  })
  const tell = (state: TakeoverView['state']): void =>
    bridge.tell('gateway', {
      listening: true,
      address: '127.0.0.1:1',
      code: null,
      upstreams: { codex: null, claude: null },
      takeovers: [
        {
          client: 'codex',
          state,
          detail: null,
          warnings: [],
          configPath: '/c',
          kind: null,
          enabled: true,
          keepLogin: false,
          restoreAvailable: false,
        },
      ],
    })
  const cards = () => port.standing.map(({ card }) => `${card.title}: ${card.body}`)
  return { clock, bridge, port, opened, news, tell, cards }
}

const DRIFTED = 'Codex: Its config file was changed and may no longer lead to the gateway'

test('a file that drifts is told once, leads to the gateway, and is taken back when that is mended', async () => {
  const { clock, port, opened, tell, cards } = setUp()
  tell('active')
  await clock.advance(10_000)
  tell('drifted')
  tell('drifted')
  expect(cards()).toEqual([DRIFTED])
  port.standing[0]?.events.clicked()
  expect(opened).toEqual([{ kind: 'gateway' }])
  tell('active')
  expect(cards()).toEqual([])
  expect(port.history).toHaveLength(1)
})

test('what drifted while Wheelhouse was away is told too, but nothing that the start itself mends', async () => {
  const { clock, port, tell, cards } = setUp()
  tell('broken')
  await clock.advance(9_000)
  expect(port.history).toEqual([])
  tell('drifted')
  await clock.advance(1_000)
  expect(cards()).toEqual([DRIFTED])
  const mended = setUp()
  mended.tell('broken')
  mended.tell('active')
  await mended.clock.advance(60_000)
  expect(mended.port.history).toEqual([])
})

test('in quiet hours nothing is told, and an end forgets its timer', async () => {
  const quiet = setUp(true)
  quiet.tell('drifted')
  await quiet.clock.advance(60_000)
  expect(quiet.port.history).toEqual([])
  const { clock, bridge, port, news, tell } = setUp()
  tell('drifted')
  news[Symbol.dispose]()
  await clock.advance(60_000)
  expect([port.history, bridge.subscribers()]).toEqual([[], 0])
})
