import type { Migration } from '../platform/index.ts'

export const executorMigrations: readonly Migration[] = [
  {
    system: 'executor',
    version: 1,
    name: 'workers and agent sessions',
    /** Which processes are ours until they are proven gone, and which conversation of its agent a session goes on with. */
    up(db) {
      db.exec(`
        CREATE TABLE worker_records (
          worker_id TEXT PRIMARY KEY,
          kind TEXT NOT NULL CHECK (kind IN ('session','aside','catalog','plugin')),
          driver TEXT,
          session_id TEXT,
          run_id TEXT,
          state TEXT NOT NULL CHECK (state IN ('starting','live','held','gone','settled')),
          process TEXT CHECK (process IS NULL OR json_valid(process)),
          outcome TEXT CHECK (outcome IS NULL OR json_valid(outcome)),
          settled_by TEXT CHECK (settled_by IS NULL OR json_valid(settled_by)),
          created_at INTEGER NOT NULL,
          updated_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX worker_records_open ON worker_records(session_id) WHERE state IN ('starting','live','held');
        CREATE TABLE agent_sessions (
          session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
          agent_id TEXT NOT NULL,
          agent_session_id TEXT NOT NULL,
          cwd TEXT NOT NULL,
          home TEXT,
          origin TEXT NOT NULL CHECK (origin IN ('wheelhouse','native')),
          updated_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX agent_sessions_by_agent ON agent_sessions(agent_id, agent_session_id);`)
    },
  },
  {
    system: 'executor',
    version: 2,
    name: 'provider switches',
    /** A switch of all sessions that is under way: the catalog is a file, so a crash between it and the sessions is carried on. */
    up(db) {
      db.exec(`
        CREATE TABLE provider_switches (
          id TEXT PRIMARY KEY,
          client TEXT NOT NULL,
          target TEXT NOT NULL CHECK (json_valid(target)),
          steps TEXT NOT NULL CHECK (json_valid(steps)),
          allow_strip INTEGER NOT NULL CHECK (allow_strip IN (0, 1)),
          by TEXT NOT NULL CHECK (json_valid(by)),
          created_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;`)
    },
  },
  {
    system: 'executor',
    version: 3,
    name: 'MCP servers and agents of a person',
    /** What was set up by hand, beside the settings: it is listed and changed one by one, and secrets are named by slot. */
    up(db) {
      db.exec(`
        CREATE TABLE mcp_servers (
          id TEXT PRIMARY KEY,
          scope TEXT NOT NULL CHECK (scope IN ('person','project')),
          project TEXT NOT NULL,
          name TEXT NOT NULL,
          command TEXT NOT NULL,
          args TEXT NOT NULL CHECK (json_valid(args)),
          env TEXT NOT NULL CHECK (json_valid(env)),
          required INTEGER NOT NULL CHECK (required IN (0,1)),
          enabled INTEGER NOT NULL CHECK (enabled IN (0,1)),
          rev INTEGER NOT NULL,
          created_at INTEGER NOT NULL,
          updated_at INTEGER NOT NULL,
          UNIQUE (scope, project, name)
        ) STRICT;
        CREATE TABLE agents (
          id TEXT PRIMARY KEY,
          label TEXT NOT NULL,
          command TEXT NOT NULL,
          args TEXT NOT NULL CHECK (json_valid(args)),
          pass_env TEXT NOT NULL CHECK (json_valid(pass_env)),
          created_at INTEGER NOT NULL,
          removed_at INTEGER
        ) STRICT;`)
    },
  },
  {
    system: 'executor',
    version: 4,
    name: 'trust in folders',
    /** What a person said of a project's own settings. By the real path of its root: no link makes it another one. */
    up(db) {
      db.exec(`
        CREATE TABLE folder_trust (
          folder TEXT PRIMARY KEY,
          trusted INTEGER NOT NULL CHECK (trusted IN (0,1)),
          rev INTEGER NOT NULL,
          answered_by TEXT NOT NULL CHECK (json_valid(answered_by)),
          answered_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;`)
    },
  },
]
