import type { Database, Migration } from '../../platform/types.ts'

/**
 * Folders of attachments that are to be removed. Before, only the rows knew them, and a session that was deleted took its
 * rows along: a crash right then left its files for ever.
 */
export const removals: Migration = {
  system: 'runtime',
  version: 2,
  name: 'removals',
  up(db: Database): void {
    db.exec(`
      CREATE TABLE removals (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('input', 'artifact')),
        work_dir TEXT NOT NULL,
        due_at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX removals_due ON removals(due_at);
    `)
  },
}
