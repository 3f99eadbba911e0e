import type { Database, Migration } from '../../platform/types.ts'

/**
 * A command that is allowed for good is allowed in one folder: what it comes to depends on where it runs. Before, a rule
 * held in every folder below the session's; those that exist hold in that one from now on.
 */
export const ruleFolders: Migration = {
  system: 'runtime',
  version: 5,
  name: 'rule_folders',
  up(db: Database): void {
    db.exec(`
      ALTER TABLE permission_rules ADD COLUMN folder TEXT;
      UPDATE permission_rules
      SET folder = coalesce(project_dir, (SELECT work_dir FROM sessions WHERE sessions.id = permission_rules.session_id))
      WHERE match_kind = 'command_exact' AND effect = 'allow';
      DROP INDEX permission_rules_key;
      CREATE UNIQUE INDEX permission_rules_key
        ON permission_rules(ifnull(session_id,''), ifnull(project_dir,''), match_kind, pattern, ifnull(folder,''));
    `)
  },
}
