import type { Migration } from '../../platform/types.ts'

/**
 * `routes`: one row per worker that was ever given a route and is not proven gone. `session_marks`: what outlives a
 * worker, namely which Provider family wrote opaque items into the session's history.
 */
export const providerMigrations: readonly Migration[] = [
  {
    system: 'providers',
    version: 1,
    name: 'routes and session marks',
    up(db) {
      db.exec(`
        CREATE TABLE routes (
          worker_id TEXT PRIMARY KEY,
          session_id TEXT NOT NULL,
          digest TEXT NOT NULL UNIQUE,
          connection_id TEXT NOT NULL,
          generation INTEGER NOT NULL,
          port INTEGER NOT NULL,
          binding TEXT NOT NULL,
          launched TEXT NOT NULL,
          created_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX routes_by_session ON routes (session_id);
        CREATE INDEX routes_by_connection ON routes (connection_id);
        CREATE TABLE session_marks (
          session_id TEXT PRIMARY KEY,
          client TEXT NOT NULL,
          choice TEXT NOT NULL,
          domain TEXT,
          opaque INTEGER NOT NULL CHECK (opaque IN (0, 1)),
          portability TEXT NOT NULL CHECK (portability IN ('keep', 'strip')),
          updated_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
      `)
    },
  },
  {
    system: 'providers',
    version: 2,
    name: 'history of a route',
    /** What a route was moved to and when, newest last: an array of at most 64 changes. */
    up(db) {
      db.exec(`ALTER TABLE routes ADD COLUMN history TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(history))`)
    },
  },
]
