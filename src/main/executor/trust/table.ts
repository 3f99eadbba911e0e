import { z } from 'zod'
import type { TrustedFolder } from '../../../shared/trust.ts'
import type { Store } from '../../platform/index.ts'

const Row = z.object({ folder: z.string(), trusted: z.number(), rev: z.number(), answered_at: z.number() })

function toFolder(raw: unknown): TrustedFolder {
  const { trusted, answered_at: answeredAt, ...row } = Row.parse(raw)
  return { ...row, trusted: trusted === 1, answeredAt }
}

/** The table `folder_trust`. Writes stand in the caller's transaction. */
export function createTrustTable({ db }: Store) {
  const allSql = db.prepare('SELECT folder, trusted, rev, answered_at FROM folder_trust ORDER BY folder')
  const getSql = db.prepare('SELECT folder, trusted, rev, answered_at FROM folder_trust WHERE folder = ?')
  const putSql = db.prepare(`
    INSERT INTO folder_trust (folder, trusted, rev, answered_by, answered_at)
    VALUES (@folder, @trusted, @rev, @by, @answeredAt)
    ON CONFLICT (folder) DO UPDATE SET trusted = @trusted, rev = @rev, answered_by = @by, answered_at = @answeredAt`)
  const deleteSql = db.prepare('DELETE FROM folder_trust WHERE folder = ?')
  return {
    all: (): readonly TrustedFolder[] => allSql.all().map(toFolder),
    get(folder: string): TrustedFolder | null {
      const raw = getSql.get(folder)
      return raw === undefined ? null : toFolder(raw)
    },
    put({ folder, trusted, rev, answeredAt }: TrustedFolder, by: string): void {
      putSql.run({ folder, trusted: trusted ? 1 : 0, rev, by, answeredAt })
    },
    delete: (folder: string): boolean => deleteSql.run(folder).changes > 0,
  }
}
