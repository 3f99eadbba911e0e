import type { Database, Ids } from '../../platform/types.ts'
import { createArtifactTable } from './artifacts.ts'
import { createBindingTable } from './bindings.ts'
import { createBriefTables } from './briefs.ts'
import { createDecisionTable } from './decisions.ts'
import { createDeliveryTable } from './deliveries.ts'
import { createDraftTable } from './drafts.ts'
import { createEventTable } from './events.ts'
import { createForkTables } from './forks.ts'
import { createInputTable } from './inputs.ts'
import { createIntentTable } from './intents.ts'
import { createLeaseTable } from './leases.ts'
import { createRecordTables } from './records.ts'
import { createRemovalTable } from './removals.ts'
import { createRuleTable } from './rules.ts'
import { createRunTable } from './runs.ts'
import { createSearchTables } from './search.ts'
import { createSessionTable } from './sessions.ts'
import { createTranscriptTables } from './transcript.ts'

export type Tables = ReturnType<typeof createTables>

/** Every table of the runtime, its statements prepared once. Writes belong inside a `writeTx`. */
export function createTables(db: Database, ids: Ids) {
  const sessions = createSessionTable(db)
  return {
    sessions,
    intents: createIntentTable(db),
    runs: createRunTable(db),
    briefs: createBriefTables(db),
    events: createEventTable(db, sessions),
    transcript: createTranscriptTables(db, sessions, ids),
    leases: createLeaseTable(db),
    decisions: createDecisionTable(db),
    rules: createRuleTable(db),
    drafts: createDraftTable(db),
    records: createRecordTables(db),
    inputs: createInputTable(db),
    artifacts: createArtifactTable(db),
    deliveries: createDeliveryTable(db),
    bindings: createBindingTable(db),
    forks: createForkTables(db),
    search: createSearchTables(db),
    removals: createRemovalTable(db),
  }
}
