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
  {
    system: 'providers',
    version: 3,
    name: 'model requests',
    /** What the Router counted: 90 days of single requests, then totals of a day. */
    up(db) {
      db.exec(`
        CREATE TABLE model_requests (
          id INTEGER PRIMARY KEY,
          at INTEGER NOT NULL,
          session_id TEXT NOT NULL,
          connection_id TEXT NOT NULL,
          client TEXT NOT NULL,
          model_asked TEXT,
          model_sent TEXT NOT NULL,
          model_reported TEXT,
          input INTEGER, cache_read INTEGER, cache_write INTEGER, output INTEGER, reasoning INTEGER,
          status INTEGER,
          first_byte_ms REAL,
          total_ms REAL NOT NULL,
          terminal TEXT NOT NULL,
          failover INTEGER NOT NULL CHECK (failover IN (0, 1)),
          response_id TEXT
        ) STRICT;
        CREATE INDEX model_requests_by_time ON model_requests (at);
        CREATE UNIQUE INDEX model_requests_once ON model_requests (connection_id, response_id) WHERE response_id IS NOT NULL;
        CREATE TABLE model_request_days (
          day TEXT NOT NULL,
          session_id TEXT NOT NULL,
          connection_id TEXT NOT NULL,
          client TEXT NOT NULL,
          model TEXT NOT NULL,
          requests INTEGER NOT NULL,
          failed INTEGER NOT NULL,
          input INTEGER, cache_read INTEGER, cache_write INTEGER, output INTEGER, reasoning INTEGER,
          PRIMARY KEY (day, session_id, connection_id, client, model)
        ) STRICT, WITHOUT ROWID;
      `)
    },
  },
  {
    system: 'providers',
    version: 4,
    name: 'who answered a request',
    /** 0: the session's own choice; else the place in the failover chain. */
    up(db) {
      db.exec(`
        ALTER TABLE model_requests ADD COLUMN failover_index INTEGER NOT NULL DEFAULT 0 CHECK (failover_index BETWEEN 0 AND 4);
        ALTER TABLE model_requests DROP COLUMN failover;
      `)
    },
  },
  {
    system: 'providers',
    version: 5,
    name: 'times of model requests',
    /** Sums, and of how many: a mean over days is made of them. */
    up(db) {
      for (const column of ['first_bytes INTEGER', 'first_byte_ms REAL', 'totals INTEGER', 'total_ms REAL']) {
        db.exec(`ALTER TABLE model_request_days ADD COLUMN ${column} NOT NULL DEFAULT 0`)
      }
    },
  },
]
