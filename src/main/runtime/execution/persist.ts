import { SqliteError } from 'better-sqlite3'
import { AppError } from '../../../shared/errors.ts'
import type { Clock, Log } from '../../platform/types.ts'

const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 500

export interface PersistOptions {
  clock: Clock
  log: Log
  /** Aborts when there is nothing left to write for: the lease is lost, or the runtime gives up. */
  signal: AbortSignal
  pendingMs: number
  /** Told once when the write still fails after `pendingMs`; it goes on all the same. */
  onPending: (error: AppError) => void
}

/**
 * Writes until it succeeds: 50 ms between the tries, doubling to 500 ms. A write that can never succeed is not repeated.
 * @throws AppError `lease_lost`, `persistence_failed`, `database_corrupt`; the signal's reason.
 */
export async function persist(write: () => Promise<void>, options: PersistOptions): Promise<void> {
  const { clock, log, signal, pendingMs, onPending } = options
  const startedMs = clock.monotonicMs()
  let waitMs = FIRST_WAIT_MS
  let told = false
  for (;;) {
    signal.throwIfAborted()
    try {
      await write()
      return
    } catch (error) {
      if (isFinal(error)) throw error
      log.warn('An end could not be written and is tried again.', { error, againMs: waitMs })
      if (!told && clock.monotonicMs() - startedMs >= pendingMs) {
        told = true
        onPending(
          new AppError(
            'terminal_persistence_pending',
            'The end of this run could not be saved yet. It is tried until it can.',
            {
              cause: error,
            },
          ),
        )
      }
    }
    await clock.sleep(waitMs, signal)
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)
  }
}

/** Whether repeating the write is pointless. A failing disk may come back; a broken rule of the schema may not. */
export function isFinal(error: unknown): boolean {
  if (!(error instanceof AppError)) return !(error instanceof SqliteError)
  if (error.code === 'persistence_failed') {
    return !(error.cause instanceof SqliteError && error.cause.code.startsWith('SQLITE_IOERR'))
  }
  return error.code !== 'database_busy' && error.code !== 'storage_full'
}
