import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createConnection } from 'node:net'
import type { Socket } from 'node:net'
import type { MessageBus } from 'dbus-native'
import type { BusAddress } from './address.ts'

export interface BusCall {
  destination: string
  path: string
  interface: string
  member: string
  signature?: string
  body?: unknown[]
}

export type BusReply = { ok: true; values: readonly unknown[] } | { ok: false; error: Error }

export interface BusSignal {
  /** The unique name of who sent it, vouched for by the bus. */
  sender: string
  path: string
  interface: string
  member: string
  body: readonly unknown[]
}

/** A connection to a message bus. It keeps no process alive once it is closed. */
export interface SessionBus {
  /**
   * `onReply` is called once, before anything that the bus sends after the reply is looked at. There is no deadline, and no
   * reply when the connection ends or who was asked leaves the bus: both are told otherwise.
   */
  call(call: BusCall, onReply: (reply: BusReply) => void): void
  onSignal(listener: (signal: BusSignal) => void): void
  onClose(listener: () => void): void
  /** What was written before still goes out. */
  close(): void
}

export const BUS_NAME = 'org.freedesktop.DBus'
const BUS = { destination: BUS_NAME, path: '/org/freedesktop/DBus', interface: BUS_NAME }
/** Far more than any message that is meant for us. */
const MAX_MESSAGE_BYTES = 1_048_576

/** A call of the bus itself. */
export const busCall = (member: string, signature = '', body: unknown[] = []): BusCall => ({
  ...BUS,
  member,
  signature,
  body,
})

/** Connects to the first of these that answers, as this user. Rejects with why the last one did not. */
export async function openSessionBus(addresses: readonly BusAddress[], signal: AbortSignal): Promise<SessionBus> {
  let failure: unknown = new Error('there is no address of a session bus')
  for (const address of addresses) {
    try {
      return await openAt(address, signal)
    } catch (error) {
      signal.throwIfAborted()
      failure = error
    }
  }
  throw failure
}

async function openAt({ socket: name, guid }: BusAddress, signal: AbortSignal): Promise<SessionBus> {
  // Who serves the bus can press every button: it is this user's or the system's.
  if (!name.startsWith('\0') && !isTrusted((await stat(name)).uid)) throw new Error('the socket is of another user')
  const { createClient } = await import('dbus-native')
  const socket = createConnection(name)
  const giveUp = (): void => void socket.destroy()
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    await once(socket, 'connect', { signal })
    // `direct`: it would throw the error of its own Hello at the process.
    const client = createClient({
      stream: socket,
      direct: true,
      authMethods: ['EXTERNAL'],
      maxMessageSize: MAX_MESSAGE_BYTES,
    })
    return await introduce(client, socket, guid)
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

const isTrusted = (uid: number): boolean => uid === 0 || uid === process.getuid?.()

function introduce(client: MessageBus, socket: Socket, guid: string | null): Promise<SessionBus> {
  const { connection } = client
  return new Promise((resolve, reject) => {
    connection.on('error', reject)
    connection.on('close', (cause) => reject(cause ?? new Error('the bus closed the connection')))
    client.invoke({ ...busCall('Hello') }, { timeout: 0 }, (error, name: unknown) => {
      if (error !== null) return reject(error)
      if (guid !== null && connection.guid?.toLowerCase() !== guid.toLowerCase()) {
        return reject(new Error('another bus answers at this address'))
      }
      if (typeof name === 'string') client.name = name
      resolve(sessionBus(client, socket))
    })
  })
}

function sessionBus(client: MessageBus, socket: Socket): SessionBus {
  const { connection } = client
  return {
    call(call, onReply) {
      client.invoke({ ...call }, { timeout: 0 }, (error, ...values: unknown[]) => {
        if (error === null) onReply({ ok: true, values })
        else if (!isGone(error)) onReply({ ok: false, error })
      })
    },
    onSignal(listener) {
      connection.on('message', ({ sender, path, interface: of, member, body = [], type }) => {
        if (type !== SIGNAL || sender === undefined || path === undefined) return
        if (of !== undefined && member !== undefined) listener({ sender, path, interface: of, member, body })
      })
    },
    onClose: (listener) => void connection.on('close', listener),
    close() {
      socket.end()
      socket.unref()
    },
  }
}

const isGone = (error: Error): boolean =>
  ('dbusName' in error && error.dbusName === NO_REPLY) || ('code' in error && error.code === 'ECONNCLOSED')

/** The bus says it for who left before an answer. */
const NO_REPLY = `${BUS_NAME}.Error.NoReply`
/** The number of this kind of message in the protocol. */
const SIGNAL = 4
