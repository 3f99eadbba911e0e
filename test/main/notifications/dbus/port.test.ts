import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { afterEach, beforeAll, afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { parseAddresses } from '../../../../src/main/notifications/dbus/address.ts'
import { ANSWER_MS, createDbusNotifications } from '../../../../src/main/notifications/dbus/port.ts'
import type { Card, NotificationPort } from '../../../../src/main/notifications/index.ts'
import { createFakeClock } from '../../../support/clock.ts'
import { createTempDir } from '../../../support/dir.ts'
import { createMemoryLog } from '../../../support/log.ts'
import { connectTo, startScriptedService, startTestBus } from '../../../support/session-bus.ts'
import type { ScriptedService, TestBus } from '../../../support/session-bus.ts'
import { createFakeNotifications } from '../support.ts'

const card = (tag: string, more: Partial<Card> = {}): Card => ({
  tag,
  about: 'waiting',
  title: `Title of ${tag}`,
  body: `Body of ${tag}`,
  buttons: ['Allow once', 'Deny'],
  ...more,
})

let bus: TestBus
let service: ScriptedService | null = null
const ends: (() => void | Promise<void>)[] = []

beforeAll(async () => {
  bus = await startTestBus()
})
afterAll(() => bus.stop())
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  await service?.stop()
  service = null
})

const serve = async (): Promise<ScriptedService> => (service = await startScriptedService(bus.address))

/** The clock stands still: nothing is given up unless a test lets time go by. */
function setUp(options: { address?: string; fallback?: NotificationPort } = {}) {
  const clock = createFakeClock()
  const log = createMemoryLog()
  const addresses = parseAddresses(options.address ?? bus.address)
  const port = createDbusNotifications({
    clock,
    log,
    addresses,
    ...(options.fallback === undefined ? {} : { fallback: options.fallback }),
  })
  ends.push(() => port.stop())
  const told: string[] = []
  const show = (shown: Card): (() => void) =>
    port.show(shown, {
      clicked: () => told.push(`clicked ${shown.tag}`),
      pressed: (button) => told.push(`pressed ${button} of ${shown.tag}`),
      dismissed: () => told.push(`dismissed ${shown.tag}`),
    })
  const lines = (): string[] => log.entries.map(({ message }) => message)
  return { clock, port, told, show, lines }
}

describe('a card on the bus', () => {
  test('is shown after the capabilities were asked, with its actions and its hints', async () => {
    const { shown, calls } = await serve()
    const { show, port } = setUp()
    show(card('a'))
    await expect
      .poll(() => shown)
      .toEqual([
        {
          appName: 'Wheelhouse',
          replaces: 0,
          title: 'Title of a',
          body: 'Body of a',
          actions: ['default', 'Open', 'button-0', 'Allow once', 'button-1', 'Deny'],
          hints: { urgency: 1, 'desktop-entry': 'wheelhouse', resident: true },
          expireMs: 0,
        },
      ])
    expect(calls).toEqual(['GetCapabilities', 'Notify'])
    expect(port.isAvailable()).toBe(true)
  })

  test('of news may go by itself, when the service likes', async () => {
    const { shown } = await serve()
    setUp().show(card('a', { about: 'news', buttons: [] }))
    await expect.poll(() => shown).toMatchObject([{ expireMs: -1, hints: { resident: false } }])
  })

  test.each([
    { can: ['body'], body: 'a < b & c', actions: [] },
    { can: ['body', 'body-markup'], body: 'a &lt; b &amp; c', actions: [] },
    { can: ['actions'], body: '', actions: ['default', 'Open', 'button-0', 'Yes'] },
    { can: [], body: '', actions: [] },
  ])('is cut down to what the service can: $can', async ({ can, body, actions }) => {
    const { shown, answers } = await serve()
    answers.capabilities = can
    setUp().show(card('a', { body: 'a < b & c', buttons: ['Yes'] }))
    await expect.poll(() => shown).toMatchObject([{ title: 'Title of a', body, actions }])
  })

  test('holds nothing for which the bus would end the connection', async () => {
    const { shown } = await serve()
    setUp().show(card('a', { title: 'a\0b', body: '\ud800' }))
    await expect.poll(() => shown).toMatchObject([{ title: 'ab', body: '\ufffd' }])
  })

  test('tells of its click, of its buttons and of its end, and of no other card', async () => {
    const { shown, signal } = await serve()
    const { show, told } = setUp()
    show(card('a'))
    await expect.poll(() => shown.length).toBe(1)
    signal('ActionInvoked', 77, 'button-0')
    signal('ActionInvoked', 1, 'button-2')
    signal('ActionInvoked', 1, 'launch')
    signal('ActionInvoked', 1, 'default')
    signal('ActionInvoked', 1, 'button-1')
    signal('NotificationClosed', 77, 2)
    signal('NotificationClosed', 1, 2)
    signal('ActionInvoked', 1, 'button-0')
    signal('NotificationClosed', 1, 2)
    show(card('last'))
    await expect.poll(() => shown.length).toBe(2)
    signal('ActionInvoked', 2, 'default')
    await expect.poll(() => told).toEqual(['clicked a', 'pressed 1 of a', 'dismissed a', 'clicked last'])
  })

  test('hears nothing from another program on the bus', async () => {
    const { shown, signal } = await serve()
    const { show, told } = setUp()
    show(card('a'))
    await expect.poll(() => shown.length).toBe(1)
    const stranger = connectTo(bus.address)
    ends.push(() => stranger.close())
    signal('ActionInvoked', 1, 'button-0', stranger)
    signal('NotificationClosed', 1, 2, stranger)
    // The stranger's next answer comes after its signals were passed on.
    await stranger.invokeDbus({ member: 'GetId' })
    signal('ActionInvoked', 1, 'button-1')
    await expect.poll(() => told).toEqual(['pressed 1 of a'])
  })

  test('takes the place of the one with its tag', async () => {
    const { shown, closed, signal } = await serve()
    const { show, told } = setUp()
    const closeFirst = show(card('a'))
    await expect.poll(() => shown.length).toBe(1)
    signal('ActionInvoked', 1, 'default')
    await expect.poll(() => told.length).toBe(1)
    const closeSecond = show(card('a', { body: 'the next' }))
    closeFirst()
    await expect.poll(() => shown[1]).toMatchObject({ replaces: 1, body: 'the next' })
    signal('ActionInvoked', 1, 'button-0')
    await expect.poll(() => told).toEqual(['clicked a', 'pressed 0 of a'])
    expect(closed).toEqual([])
    closeSecond()
    await expect.poll(() => closed).toEqual([1])
    expect(told).toHaveLength(2)
  })

  test('that is closed or replaced before it has a number is closed when it gets one', async () => {
    const { shown, closed, hold } = await serve()
    const { show, port } = setUp()
    show(card('first'))
    await expect.poll(() => shown.length).toBe(1)
    const release = hold()
    const close = show(card('a'))
    show(card('b'))
    await expect.poll(() => shown.length).toBe(3)
    close()
    show(card('b'))
    await expect.poll(() => shown.length).toBe(4)
    release()
    await expect.poll(() => closed.toSorted((a, b) => a - b)).toEqual([2, 3])
    expect(port.isAvailable()).toBe(true)
  })

  test('is closed when the host ends', async () => {
    const { shown, closed, signal } = await serve()
    const { show, port, told } = setUp()
    show(card('a'))
    await expect.poll(() => shown.length).toBe(1)
    signal('ActionInvoked', 1, 'default')
    await expect.poll(() => told.length).toBe(1)
    port.stop()
    await expect.poll(() => closed).toEqual([1])
  })
})

describe('a service that comes, goes and fails', () => {
  test('is waited for: what waits is shown by it, news is not', async () => {
    const { show, told, lines, port } = setUp()
    show(card('a'))
    show(card('b', { about: 'news' }))
    await expect.poll(lines).toHaveLength(1)
    expect(lines()[0]).toContain('nothing on the session bus shows notifications')
    expect([port.isAvailable(), told]).toEqual([false, ['dismissed b']])
    const { shown } = await serve()
    await expect.poll(() => shown.map(({ title }) => title)).toEqual(['Title of a'])
    expect(lines()).toHaveLength(1)
  })

  test('that is replaced is shown what waits anew, and the numbers of the first one mean nothing', async () => {
    const first = await serve()
    const { show, told } = setUp()
    show(card('a'))
    show(card('b', { about: 'news' }))
    await expect.poll(() => first.shown.length).toBe(2)
    first.signal('ActionInvoked', 2, 'default')
    await expect.poll(() => told).toEqual(['clicked b'])
    await first.stop()
    await expect.poll(() => told).toEqual(['clicked b', 'dismissed b'])
    const second = await serve()
    second.answers.nextId = 9
    await expect.poll(() => second.shown).toMatchObject([{ title: 'Title of a', replaces: 0 }])
    second.signal('ActionInvoked', 1, 'button-0')
    second.signal('ActionInvoked', 9, 'button-1')
    await expect.poll(() => told.slice(2)).toEqual(['pressed 1 of a'])
  })

  test('that leaves before it answered is no refusal: its successor is asked', async () => {
    const first = await serve()
    const { show, told, lines } = setUp()
    show(card('a'))
    await expect.poll(() => first.shown.length).toBe(1)
    first.hold()
    show(card('b'))
    await expect.poll(() => first.shown.length).toBe(2)
    await first.stop()
    const second = await serve()
    await expect.poll(() => second.shown.map(({ title }) => title)).toEqual(['Title of a', 'Title of b'])
    expect([told, lines()]).toEqual([[], []])
  })

  test('that does not answer is left after two seconds, and taken again when it does', async () => {
    const { shown, calls, hold } = await serve()
    const release = hold()
    const fallback = createFakeNotifications()
    const { clock, show, port, lines } = setUp({ fallback })
    show(card('a'))
    await expect.poll(() => calls).toEqual(['GetCapabilities'])
    expect(fallback.history).toEqual([])
    await clock.advance(ANSWER_MS)
    expect(fallback.history.map(({ tag }) => tag)).toEqual(['a'])
    show(card('b'))
    expect(fallback.history.map(({ tag }) => tag)).toEqual(['a', 'b'])
    expect(lines()).toHaveLength(1)
    release()
    await expect.poll(() => (show(card('c')), shown.length)).toBeGreaterThan(0)
    expect(port.isAvailable()).toBe(true)
  })

  test('that stops answering is asked for nothing more until it does', async () => {
    const { shown, hold } = await serve()
    const { clock, show, port } = setUp()
    show(card('a'))
    await expect.poll(() => shown.length).toBe(1)
    const release = hold()
    show(card('b'))
    await expect.poll(() => shown.length).toBe(2)
    await clock.advance(ANSWER_MS)
    expect(port.isAvailable()).toBe(false)
    show(card('c'))
    release()
    await expect.poll(() => shown.map(({ title }) => title)).toEqual(['Title of a', 'Title of b', 'Title of c'])
    expect(port.isAvailable()).toBe(true)
  })

  test('that answers nonsense shows nothing more of that card', async () => {
    const { shown, answers } = await serve()
    answers.nextId = 0
    const { show, told, lines } = setUp()
    show(card('a'))
    await expect.poll(() => told).toEqual(['dismissed a'])
    expect(shown).toHaveLength(1)
    expect(lines()).toEqual(['a notification was refused'])
  })
})

describe('a bus that fails', () => {
  test('that dies is gone back to, and what waits is shown again', async () => {
    const own = await startTestBus()
    onTestFinished(() => own.stop())
    const first = await startScriptedService(own.address)
    const { clock, show, lines, told } = setUp({ address: own.address })
    show(card('a'))
    await expect.poll(() => first.shown.length).toBe(1)
    await own.kill()
    await expect.poll(lines).toHaveLength(1)
    await clock.advance(1_000)
    await own.restart()
    const second = await startScriptedService(own.address)
    await expect.poll(async () => (await clock.advance(60_000), second.shown.length)).toBe(1)
    expect(told).toEqual([])
    await second.stop()
  })

  test.each([
    ['takes the connection and says nothing', () => {}],
    ['closes at once', (socket: Socket) => void socket.end()],
    ['speaks another language', (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n')],
    ['lets in and then floods', (socket: Socket) => void socket.write(`OK ${'0'.repeat(32)}\r\n${'l'.repeat(65_536)}`)],
  ])('that %s is left to the fallback', async (_what, behave) => {
    using dir = createTempDir()
    const sockets: Socket[] = []
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => {}))
      behave(socket)
    }).listen(dir.at('bus'))
    await once(server, 'listening')
    const fallback = createFakeNotifications()
    const { clock, show, port, lines } = setUp({ address: `unix:path=${dir.at('bus')}`, fallback })
    show(card('a', { about: 'news' }))
    await expect.poll(() => sockets.length).toBe(1)
    await clock.advance(ANSWER_MS)
    await expect.poll(() => fallback.history).toHaveLength(1)
    expect(lines()).toEqual(['no session bus answers: no notification is shown over it until that changes'])
    port.stop()
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  test('that is not there is left to the fallback, and looked for again', async () => {
    const fallback = createFakeNotifications()
    const { clock, show, lines } = setUp({ address: 'unix:path=/nonexistent/bus', fallback })
    const close = show(card('a'))
    await expect.poll(() => fallback.standing).toHaveLength(1)
    await clock.advance(300_000)
    expect(lines()).toHaveLength(1)
    close()
    expect(fallback.standing).toEqual([])
  })
})
