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
    const { localPort, remotePort } = socket
    if (localPort === undefined || remotePort === undefined) return 'other_user'
    let listed = false
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const table = await readTables()
      const owner = findOwner(table, remotePort, localPort)
      if (owner !== null) return owner === uid ? 'same_user' : 'other_user'
      listed = findOwner(table, localPort, remotePort) !== null
      if (!listed) break
    }
    if (listed) return 'other_user'
    if (!warned) options.log.warn('the owner of a local connection cannot be read; every local user is admitted')
    warned = true
    return 'unknown'
  }
}

async function readTables(): Promise<string> {
  const texts = await Promise.all(TABLES.map((path) => readFile(path, 'latin1').catch(() => '')))
  return texts.join('\n')
}

/** The uid of the socket bound to `port` and connected to `peerPort`, both on loopback; null: no such row. */
export function findOwner(table: string, port: number, peerPort: number): number | null {
  const row = new RegExp(
    `^ *\\d+: ${LOOPBACK}:${hex(port)} ${LOOPBACK}:${hex(peerPort)} [0-9A-F]{2} \\S+ \\S+ \\S+ +(\\d+) `,
    'm',
  ).exec(table)
  return row?.[1] === undefined ? null : Number(row[1])
}

/** 127.0.0.1 as the kernel prints it on a little-endian machine, plain or mapped into IPv6. */
const LOOPBACK = '(?:0000000000000000FFFF0000)?0100007F'

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
}
