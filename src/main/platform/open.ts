import { createSystemClock } from './clock.ts'
import { createDurableFile, sweepTempFiles } from './durable-file.ts'
import { createFailpoints } from './failpoints.ts'
import { createIds } from './ids.ts'
import { createLog, type FileLog, type LogLevel } from './log.ts'
import { readLogTail, type LogLine } from './log-tail.ts'
import { makeDataDir, pathsIn } from './paths.ts'
import { createSecretRegistry } from './secret-registry.ts'
import { openSettings } from './settings.ts'
import { openStore } from './sqlite.ts'
import type { Clock, Ids, Migration, Platform, Settings } from './types.ts'

export interface PlatformOptions {
  dataDir: string
  /** Of every system that owns tables. */
  migrations: readonly Migration[]
  logLevel?: LogLevel
  /** True only in a test build (`isTestBuild`): lets `WHEELHOUSE_FAILPOINT` end this process at a named place. */
  testFailpoints?: boolean
  env?: Readonly<Record<string, string | undefined>>
  clock?: Clock
  ids?: Ids
}

export interface OpenPlatform extends Platform {
  readonly log: FileLog
  readonly settings: Settings
  /** The newest log lines, oldest first. */
  readLog(limits: { maxLines: number; maxBytes: number }): Promise<readonly LogLine[]>
  /** Closes the database, then the log. May be called again. */
  close(): Promise<void>
}

/**
 * Opens log, database and settings, in this order. The caller holds the data folder's lock (`createHostControl`).
 * @throws AppError `data_dir_unwritable`, `schema_too_new`, `database_corrupt`, `database_busy`, `storage_full`,
 * `persistence_failed`, `settings_invalid`, `file_unsafe`, `file_failed`. What was opened by then is closed again.
 */
export async function openPlatform(options: PlatformOptions): Promise<OpenPlatform> {
  const { clock = createSystemClock(), ids = createIds(), env = process.env } = options
  const paths = pathsIn(await makeDataDir(options.dataDir))
  const secrets = createSecretRegistry()
  const failpoints = createFailpoints({ enabled: options.testFailpoints === true, env })
  const files = createDurableFile({ ids, failpoints })
  const log = createLog({ dir: paths.logDir, clock, secrets, ...(options.logLevel && { level: options.logLevel }) })
  try {
    await sweepTempFiles(paths.dataDir)
    const { migrations } = options
    const store = await openStore({ path: paths.database, backupDir: paths.backups, migrations, clock, log })
    try {
      const settings = await openSettings(paths.settings, { files, log })
      return {
        clock,
        ids,
        log,
        paths,
        secrets,
        files,
        store,
        failpoints,
        settings,
        readLog: (limits) => readLogTail(paths.logDir, limits),
        async close() {
          store.close()
          await log.close()
        },
      }
    } catch (error) {
      store.close()
      throw error
    }
  } catch (error) {
    log.error('The data folder could not be opened.', { error, path: paths.dataDir })
    await log.close()
    throw error
  }
}
