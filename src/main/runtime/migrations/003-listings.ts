import type { Database, Migration } from '../../platform/types.ts'

/** Questions and deliveries are listed over all sessions, newest first: without these each page would read every row. */
export const listings: Migration = {
  system: 'runtime',
  version: 3,
  name: 'listings',
  up(db: Database): void {
    db.exec(`
      CREATE INDEX decisions_newest ON decisions(created_at DESC, id DESC);
      CREATE INDEX decisions_of_session ON decisions(session_id, created_at DESC, id DESC);
      CREATE INDEX delivery_intents_newest ON delivery_intents(created_at DESC, id DESC);
      CREATE INDEX delivery_intents_of_session ON delivery_intents(session_id, created_at DESC, id DESC);
    `)
  },
}
