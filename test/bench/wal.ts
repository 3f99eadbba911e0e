/**
 * Counts commits from outside the host: a frame of SQLite's write-ahead log that ends a transaction says so in its header
 * (the fourth to seventh byte, the size of the database after it, are not zero). At `synchronous=FULL` each is one fsync.
 */
import { readFileSync } from 'node:fs'

const FILE_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

export interface WalState {
  /** Changes when the log begins anew: counts of two logs cannot be compared. */
  readonly salt: string
  readonly commits: number
}

export function readWal(databasePath: string): WalState {
  const wal = readFileSync(`${databasePath}-wal`)
  const salt = wal.toString('hex', 16, 24)
  const frameBytes = FRAME_HEADER_BYTES + wal.readUInt32BE(8)
  let commits = 0
  for (let at = FILE_HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    // What stands behind the end of this log is left from an earlier one.
    if (wal.toString('hex', at + 8, at + 16) !== salt) break
    if (wal.readUInt32BE(at + 4) !== 0) commits++
  }
  return { salt, commits }
}
