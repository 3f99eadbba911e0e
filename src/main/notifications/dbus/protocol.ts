import { z } from 'zod'
import type { Card } from '../types.ts'
import { BUS_NAME } from './session-bus.ts'
import type { BusCall, BusSignal } from './session-bus.ts'

/** The words of the Desktop Notifications Specification 1.2. */
export const SERVICE = 'org.freedesktop.Notifications'
const OBJECT = '/org/freedesktop/Notifications'
const APP_NAME = 'Wheelhouse'
/** By which desktops find the app's own entry, with its icon and the person's choices for it. */
const DESKTOP_ENTRY = 'wheelhouse'
const URGENCY_NORMAL = 1
/** The service's own idea of how long; never by itself. */
const EXPIRE = { news: -1, waiting: 0 } as const

const DEFAULT_ACTION = 'default'
const BUTTON = /^button-(\d{1,2})$/

const Id = z.int().min(1).max(0xffff_ffff)
const Capabilities = z.array(z.string().max(256)).max(256)
const OwnerChanged = z.tuple([z.string(), z.string(), z.string()])
const ActionInvoked = z.tuple([Id, z.string().max(256)])
const Closed = z.tuple([Id, z.int()])

/** What the service says it can show. */
export type Capability = ReadonlySet<string>

/** What came from the bus: a change of who serves, or what became of a card. */
export type ServiceSignal =
  | { kind: 'owner'; owner: string | null }
  | { kind: 'clicked'; id: number }
  | { kind: 'pressed'; id: number; button: number }
  | { kind: 'closed'; id: number }

/** The rules by which the bus sends us what concerns the service, and nothing else. */
export const MATCH_RULES = [
  `type='signal',sender='${BUS_NAME}',interface='${BUS_NAME}',member='NameOwnerChanged',arg0='${SERVICE}'`,
  `type='signal',sender='${SERVICE}',interface='${SERVICE}',path='${OBJECT}'`,
] as const

/** To `owner`, the unique name of a service, so that its successor is not taken for it. */
const serviceCall = (owner: string, member: string, signature = '', body: unknown[] = []): BusCall => ({
  destination: owner,
  path: OBJECT,
  interface: SERVICE,
  member,
  signature,
  body,
})

export const capabilitiesCall = (owner: string): BusCall => serviceCall(owner, 'GetCapabilities')

export const closeCall = (owner: string, id: number): BusCall => serviceCall(owner, 'CloseNotification', 'u', [id])

/** `replaces`: the number of the notification whose place it takes; 0: none. */
export function notifyCall(owner: string, card: Card, can: Capability, replaces: number): BusCall {
  const buttons = card.buttons.flatMap((label, at) => [`button-${at}`, plain(label)])
  const actions = can.has('actions') ? [DEFAULT_ACTION, 'Open', ...buttons] : []
  const body = plain(card.body)
  return serviceCall(owner, 'Notify', 'susssasa{sv}i', [
    APP_NAME,
    replaces,
    '',
    plain(card.title),
    can.has('body') ? (can.has('body-markup') ? escapeMarkup(body) : body) : '',
    actions,
    [
      ['urgency', ['y', URGENCY_NORMAL]],
      ['desktop-entry', ['s', DESKTOP_ENTRY]],
      // What waits goes when it is answered, not when somebody looked at it.
      ['resident', ['b', card.about === 'waiting']],
    ],
    EXPIRE[card.about],
  ])
}

/** Null: that is no list of capabilities. */
export function parseCapabilities(values: readonly unknown[]): Capability | null {
  const parsed = Capabilities.safeParse(values[0])
  return parsed.success ? new Set(parsed.data) : null
}

/** Null: that is no number of a notification. */
export function parseId(values: readonly unknown[]): number | null {
  const parsed = Id.safeParse(values[0])
  return parsed.success ? parsed.data : null
}

/** Null: nothing that concerns us. What a service says counts only from `owner`. */
export function parseSignal(signal: BusSignal, owner: string | null): ServiceSignal | null {
  const { sender, path, member, body } = signal
  if (sender === BUS_NAME) {
    const changed = signal.interface === BUS_NAME && member === 'NameOwnerChanged' ? OwnerChanged.safeParse(body) : null
    if (changed?.success !== true || changed.data[0] !== SERVICE) return null
    return { kind: 'owner', owner: changed.data[2] === '' ? null : changed.data[2] }
  }
  if (sender !== owner || signal.interface !== SERVICE || path !== OBJECT) return null
  if (member === 'NotificationClosed') {
    const closed = Closed.safeParse(body)
    return closed.success ? { kind: 'closed', id: closed.data[0] } : null
  }
  const invoked = member === 'ActionInvoked' ? ActionInvoked.safeParse(body) : null
  if (invoked?.success !== true) return null
  const [id, key] = invoked.data
  if (key === DEFAULT_ACTION) return { kind: 'clicked', id }
  const button = BUTTON.exec(key)?.[1]
  return button === undefined ? null : { kind: 'pressed', id, button: Number(button) }
}

/** The bus ends the connection of who sends a string that is no text. */
const plain = (text: string): string => text.toWellFormed().replaceAll('\0', '')

const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
