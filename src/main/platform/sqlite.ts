import { chmodSync, statSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { AppError } from '../../shared/errors.ts'
import { makeFolders, syncFile, syncFolder } from './folders.ts'
import { applyMigrations, hasHistory, pendingMigrations } from './migrations.ts'
import { toOpenError } from './sqlite-errors.ts'
import type { Clock, Database, Log, Migration, Store } from './types.ts'
import { createWriteQueue } from './write-queue.ts'

/** Short: while it runs out, the main thread stands still. The longer wait is that of `writeTx`. */
const BUSY_TIMEOUT_MS = 100
const WAL_LIMIT_BYTES = 64 * 1024 * 1024
const BACKUPS_KEPT = 3

export interface StoreOptions {
  path: string
  /** Copies from before a migration go here. */
  backupDir: string
  migrations: readonly Migration[]
  clock: Clock
  log: Log
}

/**
 * Opens the database, makes it if it is not there, and brings its schema up to date. A database that has been used before
 * is copied first. One from a newer version is refused before anything is written.
 * @throws AppError `schema_too_new`, `database_corrupt`, `database_busy`, `storage_full`, `persistence_failed`.
 */
export async function openStore({ path, backupDir, migrations, clock, log }: StoreOptions): Promise<Store> {
  try {
    await makeFolders(dirname(path))
    refuseForeign(path, migrations)
    const db = new Sqlite(path, { timeout: BUSY_TIMEOUT_MS })
    try {
      chmodSync(path, 0o600)
      configure(db)
      await bringUpToDate(db, { path, backupDir, migrations, clock, log })
      return storeOver(db, { clock, log })
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    throw toOpenError(error)
  }
}

/** Looks through a read-only connection, which cannot even move the write-ahead log into the file when it closes. */
function refuseForeign(path: string, migrations: readonly Migration[]): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  // SQLite would wait for a pipe's other end, and write into a device.
  if (!found.isFile()) {
    throw new AppError('persistence_failed', 'The database was not opened because it is no regular file.', {
      detail: path,
    })
  }
  const db = new Sqlite(path, { readonly: true, timeout: BUSY_TIMEOUT_MS })
  try {
    pendingMigrations(db, migrations)
  } finally {
    db.close()
  }
}

function configure(db: Database): void {
  // An existing WAL file is reopened at NORMAL by better-sqlite3, so FULL is set on every connection, and looked at.
  const wanted = { journal_mode: 'wal', synchronous: 2, foreign_keys: 1, busy_timeout: BUSY_TIMEOUT_MS }
  for (const [name, value] of Object.entries(wanted)) {
    db.pragma(`${name} = ${value}`)
    const actual: unknown = db.pragma(name, { simple: true })
    if (actual === value) continue
    throw new AppError('persistence_failed', 'The database cannot be opened safely on this disk.', {
      detail: `${name} is ${String(actual)}`,
    })
  }
  db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`)
}

async function bringUpToDate(db: Database, options: StoreOptions): Promise<void> {
  const { path, backupDir, migrations, clock, log } = options
  const pending = pendingMigrations(db, migrations)
  if (pending.length === 0) return
  if (hasHistory(db)) {
    const copy = await backupBeforeMigration(db, { path, backupDir, clock })
    log.info('Copied the database before its update.', { copy })
  }
  applyMigrations(db, pending, clock)
  log.info('Updated the database.', {
    applied: pending.map(({ system, version, name }) => `${system}/${version}-${name}`),
  })
}

async function backupBeforeMigration(
  db: Database,
  { path, backupDir, clock }: Pick<StoreOptions, 'path' | 'backupDir' | 'clock'>,
): Promise<string> {
  await makeFolders(backupDir)
  const prefix = `${basename(path, '.db')}-`
  const stamp = new Date(clock.nowMs()).toISOString().replaceAll(/[:.]/g, '-')
  const copy = join(backupDir, `${prefix}${stamp}.db`)
  await copyTo(db, copy)
  const copies = (await readdir(backupDir)).filter((name) => name.startsWith(prefix) && name.endsWith('.db')).sort()
  for (const old of copies.slice(0, -BACKUPS_KEPT)) await rm(join(backupDir, old))
  return copy
}

/** Whole or not at all under its final name, and there after a power failure. */
async function copyTo(db: Database, path: string): Promise<void> {
  const partial = join(dirname(path), `.${basename(path)}.partial`)
  await rm(partial, { force: true })
  try {
    await db.backup(partial)
    chmodSync(partial, 0o600)
    await syncFile(partial)
    await rename(partial, path)
    await syncFolder(dirname(path))
  } catch (error) {
    await rm(partial, { force: true })
    throw toOpenError(error)
  }
}

function storeOver(db: Database, deps: { clock: Clock; log: Log }): Store {
  const writes = createWriteQueue(db, deps)
  return {
    db,
    writeTx: writes.writeTx,
    afterCommit: writes.afterCommit,
    backup: (path) => copyTo(db, path),
    close() {
      writes.close()
      db.close()
    },
  }
}
