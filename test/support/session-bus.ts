import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { createClient } from 'dbus-native'
import type { MessageBus } from 'dbus-native'
import { createTempDir } from './dir.ts'

export interface TestBus {
  readonly address: string
  /** Ends the daemon as a crash does. */
  kill(): Promise<void>
  /** A new daemon at the same address. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** A real `dbus-daemon` that starts no services by itself. */
export async function startTestBus(): Promise<TestBus> {
  const dir = createTempDir()
  const socket = dir.at('bus')
  writeFileSync(
    dir.at('bus.conf'),
    `<busconfig>
      <type>session</type>
      <listen>unix:path=${socket}</listen>
      <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
    </busconfig>`,
  )
  let child = await launch()

  async function launch() {
    const line = ['--config-file', dir.at('bus.conf'), '--nofork', '--nopidfile', '--print-address=1']
    const started = spawn('dbus-daemon', line, { stdio: ['ignore', 'pipe', 'ignore'] })
    for await (const _address of createInterface({ input: started.stdout })) return started
    throw new Error('dbus-daemon did not start')
  }

  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return {
    address: `unix:path=${socket}`,
    kill,
    async restart() {
      child = await launch()
    },
    async stop() {
      await kill()
      dir[Symbol.dispose]()
    },
  }
}

export interface Shown {
  appName: string
  replaces: number
  title: string
  body: string
  actions: readonly string[]
  hints: Readonly<Record<string, unknown>>
  expireMs: number
}

export interface ScriptedService {
  /** Every call, by its member's name, as it came. */
  readonly calls: string[]
  readonly shown: Shown[]
  readonly closed: number[]
  /** Holds back every answer until it is called. */
  hold(): () => void
  /** What `GetCapabilities` and `Notify` answer from now on. */
  answers: { capabilities: readonly string[]; nextId: number }
  /** `from`: as another program on the bus. */
  signal(member: 'ActionInvoked', id: number, key: string, from?: MessageBus): void
  signal(member: 'NotificationClosed', id: number, reason: number, from?: MessageBus): void
  /** Leaves the bus. */
  stop(): Promise<void>
}

const NAME = 'org.freedesktop.Notifications'
const PATH = '/org/freedesktop/Notifications'
const ALL = ['actions', 'body', 'body-markup', 'persistence']

export const connectTo = (address: string): MessageBus => {
  const client = createClient({ busAddress: address })
  // Its bus may be killed by the test.
  client.connection.on('error', () => {})
  return client
}

/** Owns `org.freedesktop.Notifications` and does as it is told. */
export async function startScriptedService(address: string): Promise<ScriptedService> {
  const client = connectTo(address)
  const calls: string[] = []
  const shown: Shown[] = []
  const closed: number[] = []
  const answers = { capabilities: ALL as readonly string[], nextId: 1 }
  let gate: Promise<void> = Promise.resolve()
  const implementation = {
    async GetCapabilities() {
      calls.push('GetCapabilities')
      await gate
      return answers.capabilities
    },
    async Notify(
      appName: string,
      replaces: number,
      _icon: string,
      title: string,
      body: string,
      actions: string[],
      hints: Record<string, unknown>,
      expireMs: number,
    ) {
      calls.push('Notify')
      shown.push({ appName, replaces, title, body, actions, hints, expireMs })
      const id = replaces === 0 ? answers.nextId++ : replaces
      await gate
      return id
    },
    CloseNotification(id: number) {
      calls.push('CloseNotification')
      closed.push(id)
      client.sendSignal(PATH, NAME, 'NotificationClosed', 'uu', [id, 3])
      return null
    },
  }
  client.exportInterface(implementation, PATH, {
    name: NAME,
    methods: {
      GetCapabilities: ['', 'as', [], ['capabilities']],
      Notify: ['susssasa{sv}i', 'u', ['a', 'r', 'i', 's', 'b', 'x', 'h', 't'], ['id']],
      CloseNotification: ['u', '', ['id'], []],
    },
  })
  const { isPrimaryOwner } = await client.ownName(NAME)
  if (!isPrimaryOwner) throw new Error('another service owns the name')
  return {
    calls,
    shown,
    closed,
    answers,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
    signal(member: string, id: number, detail: string | number, from = client) {
      from.sendSignal(PATH, NAME, member, member === 'ActionInvoked' ? 'us' : 'uu', [id, detail])
    },
    stop: () => client.close(),
  }
}
