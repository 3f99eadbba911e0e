import type { Migration } from '../platform/types.ts'

export const scheduleMigrations: readonly Migration[] = [
  {
    system: 'schedules',
    version: 1,
    name: 'schedules',
    /** What is to be asked of an agent by the clock. A session may go; the schedule then begins another one. */
    up(db) {
      db.exec(`
        CREATE TABLE schedules (
          id TEXT PRIMARY KEY,
          name TEXT NOT NULL,
          cron TEXT NOT NULL,
          time_zone TEXT NOT NULL,
          agent_id TEXT NOT NULL,
          work_dir TEXT NOT NULL,
          mode TEXT NOT NULL CHECK (mode IN ('plan','agent','yolo')),
          choice TEXT CHECK (choice IS NULL OR json_valid(choice)),
          prompt TEXT NOT NULL CHECK (octet_length(prompt) <= 262144),
          deliver_to TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(deliver_to)),
          catch_up INTEGER NOT NULL CHECK (catch_up IN (0, 1)),
          enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
          rev INTEGER NOT NULL DEFAULT 1,
          session_id TEXT REFERENCES sessions(id) ON DELETE SET NULL,
          next_at INTEGER,
          last TEXT CHECK (last IS NULL OR json_valid(last)),
          created_at INTEGER NOT NULL,
          updated_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX schedules_due ON schedules(next_at) WHERE enabled = 1 AND next_at IS NOT NULL;
        CREATE INDEX schedules_of_session ON schedules(session_id) WHERE session_id IS NOT NULL;`)
    },
  },
]
