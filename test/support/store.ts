import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '../../src/main/platform/clock.ts'
import { openStore } from '../../src/main/platform/sqlite.ts'
import type { Clock, Log, Migration, Store } from '../../src/main/platform/types.ts'
import { createFastTempDir } from './dir.ts'
import { createMemoryLog } from './log.ts'

export interface TestStore extends Store, Disposable {
  /** The database's file: hand its folder as `dir` to open the same database once more. */
  readonly path: string
}

export interface TestStoreOptions {
  /** An existing folder to open the database in; it is kept. Without one, a temporary folder that goes with the store. */
  dir?: string
  clock?: Clock
  log?: Log
}

/** A database with these migrations and nothing in it: made once, and copied. */
const templates = new Map<readonly Migration[], Uint8Array>()

/** The real store over a real file, with the real migrations. Its waits use the system's clock unless one is given. */
export async function openTestStore(
  migrations: readonly Migration[],
  { dir, clock = createSystemClock(), log = createMemoryLog() }: TestStoreOptions = {},
): Promise<TestStore> {
  const temp = dir === undefined ? createFastTempDir() : null
  const folder = dir ?? temp?.path ?? ''
  const path = join(folder, 'wheelhouse.db')
  try {
    const known = templates.get(migrations)
    if (known !== undefined && !existsSync(path)) writeFileSync(path, known)
    const store = await openStore({ path, backupDir: join(folder, 'backups'), migrations, clock, log })
    if (known === undefined && dir === undefined) templates.set(migrations, store.db.serialize())
    return {
      ...store,
      path,
      [Symbol.dispose]() {
        store.close()
        temp?.[Symbol.dispose]()
      },
    }
  } catch (error) {
    temp?.[Symbol.dispose]()
    throw error
  }
}
