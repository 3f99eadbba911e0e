import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { inspect } from 'node:util'
import type { MessageBus } from 'dbus-native'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAddresses } from '../../../../src/main/notifications/dbus/address.ts'
import { createDbusNotifications } from '../../../../src/main/notifications/index.ts'
import type { NotificationPort } from '../../../../src/main/notifications/index.ts'
import { createSystemClock } from '../../../../src/main/platform/index.ts'
import { createTempDir } from '../../../support/dir.ts'
import { createMemoryLog } from '../../../support/log.ts'
import { connectTo, startTestBus } from '../../../support/session-bus.ts'
import type { TestBus } from '../../../support/session-bus.ts'

const SOON = { timeout: 30_000, interval: 50 }

/** What people run: dunst, on a display that nobody sees. */
describe.runIf(process.platform === 'linux')('dunst', () => {
  const dir = createTempDir()
  const children: ChildProcess[] = []
  let bus: TestBus
  let control: MessageBus
  let port: NotificationPort

  beforeAll(async () => {
    bus = await startTestBus()
    const display = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '320x200x24', '-nolisten', 'tcp'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    })
    children.push(display)
    const number = await firstLine(display.stdio[3] as Readable)
    writeFileSync(dir.at('dunstrc'), '')
    const env = {
      PATH: process.env['PATH'],
      HOME: dir.path,
      DISPLAY: `:${number}`,
      DBUS_SESSION_BUS_ADDRESS: bus.address,
    }
    children.push(spawn('dunst', ['-config', dir.at('dunstrc')], { env, stdio: 'ignore' }))
    control = connectTo(bus.address)
    const addresses = parseAddresses(bus.address)
    port = createDbusNotifications({ clock: createSystemClock(), log: createMemoryLog(), addresses })
  })

  afterAll(async () => {
    port.stop()
    await control.close()
    for (const child of children.toReversed()) {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    await bus.stop()
    dir[Symbol.dispose]()
  })

  const ask = (member: string, body: [] | [number] = []): PromiseLike<unknown> =>
    control.invoke({
      destination: 'org.freedesktop.Notifications',
      path: '/org/freedesktop/Notifications',
      interface: 'org.dunstproject.cmd0',
      member,
      ...(body.length === 0 ? {} : { signature: 'u', body }),
    })
  const displayed = async (): Promise<unknown> =>
    control.invoke({
      destination: 'org.freedesktop.Notifications',
      path: '/org/freedesktop/Notifications',
      interface: 'org.freedesktop.DBus.Properties',
      member: 'Get',
      signature: 'ss',
      body: ['org.dunstproject.cmd0', 'displayedLength'],
    })

  test('shows a card, replaces it, tells of its click, and takes it away', async () => {
    const told: string[] = []
    const show = (body: string): (() => void) =>
      port.show(
        { tag: 'a', about: 'waiting', title: 'Session 1 wants to go on', body, buttons: ['Allow once', 'Deny'] },
        { clicked: () => told.push('clicked'), pressed: () => {}, dismissed: () => told.push('dismissed') },
      )
    await expect.poll(() => port.isAvailable(), SOON).toBe(true)
    show('touch one')
    await expect.poll(displayed, SOON).toBe(1)
    const close = show('cat <a> && echo "&amp;"')
    await ask('NotificationAction', [0])
    await expect.poll(() => told, SOON).toContain('clicked')
    expect(await displayed()).toBe(1)
    close()
    await expect.poll(displayed, SOON).toBe(0)
    const history = inspect(await ask('NotificationListHistory'), { depth: null })
    for (const part of ['Wheelhouse', 'Session 1 wants to go on', 'cat <a> && echo "&amp;"']) {
      expect(history).toContain(part)
    }
    expect(history).not.toContain('touch one')
    expect(told).toEqual(['clicked'])
  })
})

async function firstLine(stream: Readable): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line
  throw new Error('nothing was said')
}
