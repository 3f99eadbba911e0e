import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'

/** A lock between processes that dies with its holder. Waits up to two minutes. */
export function takeLock(path: string): Promise<AsyncDisposable> {
  mkdirSync(dirname(path), { recursive: true })
  const db = new Sqlite(path, { timeout: 120_000 })
  db.exec('BEGIN EXCLUSIVE')
  return Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve(void db.close()) })
}
