import { isAbsolute, join } from 'node:path'

/** A bus on this machine: a socket's path, or the name of an abstract one behind a NUL. */
export interface BusAddress {
  socket: string
  /** The bus that is meant, where the address says it. */
  guid: string | null
}

const MAX_CHARS = 4_096
const MAX_ADDRESSES = 8
/** What a socket's name may hold on Linux. */
const MAX_SOCKET_BYTES = 107
const VALUE = /^(?:[-\w/.\\*]|%[\da-f]{2})*$/i
const GUID = /^[\da-f]{32}$/i

/**
 * The session bus as the environment names it, else the one that systemd keeps for the user. Only sockets of this machine:
 * an address may also name a program to start (`unixexec:`) or another machine (`tcp:`), and neither is followed.
 */
export function busAddresses(env: Readonly<Record<string, string | undefined>>): readonly BusAddress[] {
  const text = env['DBUS_SESSION_BUS_ADDRESS'] ?? ''
  if (text !== '') return parseAddresses(text)
  const runtime = env['XDG_RUNTIME_DIR'] ?? ''
  if (!isAbsolute(runtime)) return []
  const socket = join(runtime, 'bus')
  return isSocketName(socket) ? [{ socket, guid: null }] : []
}

/** Those of the list that can be used, in its order. */
export function parseAddresses(text: string): readonly BusAddress[] {
  if (text.length > MAX_CHARS) return []
  return text
    .split(';')
    .slice(0, MAX_ADDRESSES)
    .map(parseAddress)
    .filter((address) => address !== null)
}

function parseAddress(text: string): BusAddress | null {
  if (!text.startsWith('unix:')) return null
  const values = new Map<string, string>()
  for (const pair of text.slice('unix:'.length).split(',')) {
    const [key = '', escaped, ...more] = pair.split('=')
    if (escaped === undefined || more.length > 0 || values.has(key)) return null
    const value = unescape(escaped)
    if (value === null) return null
    values.set(key, value)
  }
  const path = values.get('path')
  const abstract = values.get('abstract')
  const guid = values.get('guid') ?? null
  if (guid !== null && !GUID.test(guid)) return null
  if ((path === undefined) === (abstract === undefined)) return null
  if (path !== undefined && !isAbsolute(path)) return null
  const name = path ?? abstract ?? ''
  return isSocketName(name) ? { socket: path ?? `\0${name}`, guid } : null
}

/** Null: no UTF-8, or a character that has to be escaped. */
function unescape(value: string): string | null {
  if (!VALUE.test(value)) return null
  try {
    return decodeURIComponent(value)
  } catch {
    return null
  }
}

const isSocketName = (name: string): boolean =>
  name !== '' && !name.includes('\0') && Buffer.byteLength(name) <= MAX_SOCKET_BYTES
