/** Linux: which user owns the other end of a loopback connection. On a shared machine others can reach the port. */
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { Log } from '../../platform/types.ts'

/** `unknown`: the table cannot be read, or does not even list our own end. */
export type PeerVerdict = 'same_user' | 'other_user' | 'unknown'

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
/** The table is no snapshot: a row can be missed while others come and go. */
const ATTEMPTS = 3

/** Answers for one connection, once. `uid` null: this platform has no such check. */
export function createPeerCheck(options: { uid: number | null; log: Log }): (socket: Socket) => Promise<PeerVerdict> {
  let warned = false
  return async (socket) => {
    const { uid } = options
    if (uid === null) return 'unknown'
    const own = endOf(socket.localAddress, socket.localPort)
    const other = endOf(socket.remoteAddress, socket.remotePort)
    if (own === null || other === null) return 'other_user'
    let listed = false
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const table = await readTables()
      const owner = findOwner(table, other, own)
      if (owner !== null) return owner === uid ? 'same_user' : 'other_user'
      listed ||= findOwner(table, own, other) !== null
    }
    if (listed) return 'other_user'
    // A connection that is gone has no row, and says nothing about others.
    if (!warned && !socket.destroyed) {
      options.log.warn('the owner of a local connection cannot be read; every local user is admitted')
      warned = true
    }
    return 'unknown'
  }
}

async function readTables(): Promise<string> {
  const texts = await Promise.all(TABLES.map((path) => readFile(path, 'latin1').catch(() => '')))
  return texts.join('\n')
}

/** One end of a connection. Whoever connects may choose its address among all that this machine has. */
export interface ConnectionEnd {
  /** IPv4, dotted. */
  readonly address: string
  readonly port: number
}

function endOf(address: string | undefined, port: number | undefined): ConnectionEnd | null {
  return address === undefined || port === undefined ? null : { address, port }
}

/** The uid of the socket at `end`, connected to `peer`; null: no such row, or no program holds it any more. */
export function findOwner(table: string, end: ConnectionEnd, peer: ConnectionEnd): number | null {
  const row = new RegExp(
    `^ *\\d+: ${printed(end)} ${printed(peer)} [0-9A-F]{2} \\S+ \\S+ \\S+ +(\\d+) +\\d+ +[1-9]\\d* `,
    'm',
  ).exec(table)
  return row?.[1] === undefined ? null : Number(row[1])
}

/** As the kernel prints it on a little-endian machine, plain or mapped into IPv6. */
function printed({ address, port }: ConnectionEnd): string {
  const bytes = address.split('.').map((byte) => hex(Number(byte), 2))
  return `(?:0000000000000000FFFF0000)?${bytes.toReversed().join('')}:${hex(port, 4)}`
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0')
}
