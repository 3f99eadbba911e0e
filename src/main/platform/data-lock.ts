import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { AppError } from '../../shared/errors.ts'
import { isBusy } from './sqlite-errors.ts'

/** Keeps each connection alive until its release: a collected one would be closed, and the lock with it. */
const held = new Set<Sqlite.Database>()

export interface DataLock {
  release(): void
}

/**
 * The data folder's lock, or null while another process has it. It is SQLite's own advisory lock on an empty database, so
 * the operating system frees it the moment its process dies, however that dies. Nothing else ever opens the file: to close
 * a second descriptor of it would drop the lock.
 * @throws AppError `data_dir_unwritable`.
 */
export function takeDataLock(dataDir: string): DataLock | null {
  const path = join(dataDir, 'host.lock')
  let db: Sqlite.Database | undefined
  try {
    db = new Sqlite(path, { timeout: 0 })
    db.exec('BEGIN EXCLUSIVE')
    chmodSync(path, 0o600)
  } catch (error) {
    db?.close()
    if (isBusy(error)) return null
    throw new AppError(
      'data_dir_unwritable',
      `The data folder ${dataDir} cannot be locked. Set WHEELHOUSE_HOME to a folder of your own on a local disk.`,
      { detail: path, cause: error },
    )
  }
  const lock = db
  held.add(lock)
  return {
    release() {
      held.delete(lock)
      lock.close()
    },
  }
}
