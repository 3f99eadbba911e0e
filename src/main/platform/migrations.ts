import { createHash } from 'node:crypto'
import { AppError } from '../../shared/errors.ts'
import type { Clock, Database, Migration } from './types.ts'

/** A later system may refer to the tables of an earlier one. */
const ORDER: readonly Migration['system'][] = ['runtime', 'executor', 'providers', 'hosting', 'desktop', 'schedules']

const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS schema_migrations ( system TEXT NOT NULL, version INTEGER NOT NULL CHECK (version >= 1),
  name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL, PRIMARY KEY (system, version)) STRICT`

interface Applied {
  system: string
  version: number
  name: string
}

/**
 * What this version would still apply, in order. Only reads.
 * @throws AppError `schema_too_new`: the database knows a migration that this version does not; `database_corrupt`: it is
 * some other program's; `internal`: the migrations handed in leave a gap or name a version twice.
 */
export function pendingMigrations(db: Database, migrations: readonly Migration[]): readonly Migration[] {
  const ordered = inOrder(migrations)
  const applied = readApplied(db)
  const unknown = applied.find((row) => !ordered.some((migration) => isSame(migration, row)))
  if (unknown !== undefined) {
    throw new AppError(
      'schema_too_new',
      'This data folder was last used by a newer Wheelhouse. Install that version again, or choose another data folder.',
      { detail: `${unknown.system} ${unknown.version} (${unknown.name})` },
    )
  }
  return ordered.filter((migration) => !applied.some((row) => isSame(migration, row)))
}

/** True once a Wheelhouse has written to this database. */
export function hasHistory(db: Database): boolean {
  return readApplied(db).length > 0
}

/** Applies each migration in a transaction of its own, together with its row in `schema_migrations`. */
export function applyMigrations(db: Database, migrations: readonly Migration[], clock: Clock): void {
  db.exec(CREATE_TABLE)
  // A table that other tables refer to can only be rebuilt while the references are not enforced; each is checked below.
  db.pragma('foreign_keys = OFF')
  try {
    for (const migration of migrations) db.transaction(() => applyOne(db, migration, clock)).immediate()
  } finally {
    db.pragma('foreign_keys = ON')
  }
}

function applyOne(db: Database, migration: Migration, clock: Clock): void {
  // Another process may have been first while this one waited for the lock.
  if (readApplied(db).some((row) => isSame(migration, row))) return
  migration.up(db)
  const broken = db.pragma('foreign_key_check')
  if (Array.isArray(broken) && broken.length > 0) {
    throw new AppError('persistence_failed', 'An update of the database would have broken it: nothing was changed.', {
      detail: `${migration.system} ${migration.version} (${migration.name}): ${broken.length} dangling references`,
    })
  }
  db.prepare('INSERT INTO schema_migrations (system, version, name, sha256, applied_at) VALUES (?, ?, ?, ?, ?)').run(
    migration.system,
    migration.version,
    migration.name,
    schemaDigest(db),
    clock.nowMs(),
  )
}

/** Of the schema that the migration left behind, so that two databases of one version can be compared. */
function schemaDigest(db: Database): string {
  const rows = db.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name').raw().all()
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex')
}

function readApplied(db: Database): readonly Applied[] {
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all()
  if (tables.length === 0) return []
  if (!tables.includes('schema_migrations')) {
    throw new AppError(
      'database_corrupt',
      'The database file in the data folder was not made by Wheelhouse. Move it away.',
    )
  }
  return db.prepare<[], Applied>('SELECT system, version, name FROM schema_migrations ORDER BY system, version').all()
}

function inOrder(migrations: readonly Migration[]): readonly Migration[] {
  return ORDER.flatMap((system) => {
    const own = migrations.filter((migration) => migration.system === system).sort((a, b) => a.version - b.version)
    const wrong = own.find((migration, index) => migration.version !== index + 1)
    if (wrong === undefined) return own
    throw new AppError('internal', 'The migrations are not numbered 1, 2, 3.', { detail: `${system} ${wrong.version}` })
  })
}

function isSame(migration: Migration, row: Applied): boolean {
  return migration.system === row.system && migration.version === row.version && migration.name === row.name
}
