import type { Database, Migration } from '../../platform/types.ts'

/**
 * A way back along every reference, and an order for every list that is asked for often. Without them a run's end, a page
 * of a transcript and a deletion each read whole tables, and took longer the more there was, in whichever session.
 */
export const lookups: Migration = {
  system: 'runtime',
  version: 4,
  name: 'lookups',
  up(db: Database): void {
    db.exec(`
      -- the lists of a window: live and archived sessions, newest first
      DROP INDEX sessions_recent;
      CREATE INDEX sessions_listed ON sessions((archived_at IS NOT NULL), updated_at DESC, id DESC);
      CREATE INDEX sessions_by_parent ON sessions(parent_id) WHERE parent_id IS NOT NULL;
      CREATE INDEX fork_requests_by_child ON fork_requests(child_session_id);

      DROP INDEX runs_by_session;
      CREATE INDEX runs_by_session ON runs(session_id, created_at, id);
      CREATE INDEX runs_ended ON runs(session_id, finished_at, id) WHERE finished_at IS NOT NULL;
      CREATE INDEX runs_by_retried ON runs(retry_of) WHERE retry_of IS NOT NULL;
      CREATE INDEX submissions_by_intent ON submissions(intent_id) WHERE intent_id IS NOT NULL;
      CREATE INDEX submissions_by_run ON submissions(run_id) WHERE run_id IS NOT NULL;
      CREATE INDEX run_recoveries_by_session ON run_recoveries(session_id);

      CREATE INDEX turns_by_run ON turns(run_id) WHERE run_id IS NOT NULL;
      CREATE INDEX turns_by_intent ON turns(intent_id) WHERE intent_id IS NOT NULL;
      CREATE INDEX entries_by_turn ON entries(turn_id, seq) WHERE turn_id IS NOT NULL;
      CREATE INDEX entries_by_run ON entries(run_id, seq) WHERE run_id IS NOT NULL;

      CREATE INDEX permission_rules_by_session ON permission_rules(session_id) WHERE session_id IS NOT NULL;
      CREATE INDEX permission_rules_by_project ON permission_rules(project_dir) WHERE project_dir IS NOT NULL;

      CREATE INDEX input_resources_by_session ON input_resources(session_id);
      CREATE INDEX input_resources_by_run ON input_resources(run_id) WHERE run_id IS NOT NULL;
      CREATE INDEX run_inputs_by_resource ON run_inputs(resource_id);
      CREATE INDEX attachments_by_session ON attachments(session_id);
      CREATE INDEX attachments_by_run ON attachments(run_id) WHERE run_id IS NOT NULL;

      CREATE INDEX delivery_operations_following ON delivery_operations(depends_on) WHERE depends_on IS NOT NULL;
      CREATE INDEX delivery_operations_by_artifact ON delivery_operations(artifact_id) WHERE artifact_id IS NOT NULL;
    `)
  },
}
