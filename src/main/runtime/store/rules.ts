/** What "always" answers left behind, for a session or for every session in one project folder. */
import { z } from 'zod'
import type { Database } from '../../platform/types.ts'
import type { PermissionRule } from '../types.ts'
import { Count } from './json.ts'

const Row = z.object({
  id: z.string(),
  session_id: z.string().nullable(),
  project_dir: z.string().nullable(),
  match_kind: z.enum(['command_exact', 'tool']),
  pattern: z.string(),
  folder: z.string().nullable(),
  effect: z.enum(['allow', 'reject']),
  decision_id: z.string().nullable(),
  created_at: z.number(),
})

function toRule(raw: unknown): PermissionRule {
  const row = Row.parse(raw)
  return {
    id: row.id,
    sessionId: row.session_id,
    projectDir: row.project_dir,
    matchKind: row.match_kind,
    pattern: row.pattern,
    folder: row.folder,
    effect: row.effect,
    decisionId: row.decision_id,
    createdAt: row.created_at,
  }
}

export type RuleTable = ReturnType<typeof createRuleTable>

export function createRuleTable(db: Database) {
  const ofSessionSql = db.prepare(
    'SELECT * FROM permission_rules WHERE session_id = @sessionId OR project_dir = @projectDir ORDER BY created_at, id',
  )
  const allSql = db.prepare('SELECT * FROM permission_rules ORDER BY created_at DESC, id DESC LIMIT 1000')
  const countSql = db
    .prepare(
      `SELECT count(*) FROM permission_rules WHERE ifnull(session_id,'') = ifnull(@sessionId, '') AND ifnull(project_dir,'') = ifnull(@projectDir, '')`,
    )
    .pluck()
  const upsertSql = db.prepare(
    `INSERT INTO permission_rules (id, session_id, project_dir, match_kind, pattern, folder, effect, decision_id, created_at)
     VALUES (@id, @sessionId, @projectDir, @matchKind, @pattern, @folder, @effect, @decisionId, @createdAt)
     ON CONFLICT (ifnull(session_id, ''), ifnull(project_dir, ''), match_kind, pattern, ifnull(folder, ''))
     DO UPDATE SET effect = excluded.effect, decision_id = excluded.decision_id, created_at = excluded.created_at`,
  )
  const deleteSql = db.prepare('DELETE FROM permission_rules WHERE id = ?')

  return {
    /** Those that bear on a session in `projectDir`, oldest first. */
    for(sessionId: string, projectDir: string): PermissionRule[] {
      return ofSessionSql.all({ sessionId, projectDir }).map(toRule)
    },
    all(): PermissionRule[] {
      return allSql.all().map(toRule)
    },
    count(scope: Pick<PermissionRule, 'sessionId' | 'projectDir'>): number {
      return Count.parse(countSql.get({ sessionId: scope.sessionId, projectDir: scope.projectDir }))
    },
    put(rule: PermissionRule): void {
      upsertSql.run(rule)
    },
    delete(id: string): boolean {
      return deleteSql.run(id).changes === 1
    },
  }
}
