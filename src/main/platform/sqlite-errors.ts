import { SqliteError } from 'better-sqlite3'
import { AppError, type AppErrorOptions } from '../../shared/errors.ts'
import { systemCode } from './system-errors.ts'

/** Somebody else holds the lock: the same statement may succeed in a moment. */
export function isBusy(thrown: unknown): boolean {
  return thrown instanceof SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(thrown.code)
}

/** What SQLite threw, in the product's words; anything else is passed on as it is. The original is kept as `cause`. */
export function toStoreError(thrown: unknown): unknown {
  if (!(thrown instanceof SqliteError)) return thrown
  const options = { detail: `${thrown.code}: ${thrown.message}`, cause: thrown }
  if (isBusy(thrown)) {
    return new AppError('database_busy', 'Another process keeps the database busy. Try again in a moment.', options)
  }
  if (thrown.code === 'SQLITE_FULL') {
    return storageFull(options)
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(thrown.code)) {
    return new AppError(
      'database_corrupt',
      'The database is damaged. Put back a copy from the folder "backups" in the data folder.',
      options,
    )
  }
  return new AppError('persistence_failed', 'The database refused the change: nothing was saved.', options)
}

/** As `toStoreError`, for work on the database's files, where the file system has a say as well. */
export function toOpenError(thrown: unknown): unknown {
  const error = toStoreError(thrown)
  if (error instanceof AppError) return error
  const options = { detail: String(thrown), cause: thrown }
  if (['ENOSPC', 'EDQUOT'].includes(systemCode(thrown))) return storageFull(options)
  return new AppError('persistence_failed', 'The database could not be opened or copied.', options)
}

function storageFull(options: AppErrorOptions): AppError {
  return new AppError('storage_full', 'The disk is full: nothing was saved. Free some space and try again.', options)
}
