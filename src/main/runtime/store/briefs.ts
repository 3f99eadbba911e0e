/** What a list says of each session beside its own row: read for all of them at once, which costs a tenth of one by one. */
import { z } from 'zod'
import { RunState } from '../../../shared/vocabulary.ts'
import type { Database } from '../../platform/types.ts'
import type { SessionBrief } from '../types.ts'
import { ACTIVE_STATES } from './runs.ts'

const Row = z.object({
  session_id: z.string(),
  active_id: z.string().nullable(),
  active_state: RunState.nullable(),
  active_started_at: z.number().nullable(),
  active_created_at: z.number().nullable(),
  ended_id: z.string().nullable(),
  ended_state: RunState.nullable(),
  finished_at: z.number().nullable(),
  failed: z.number(),
  code: z.string().nullable(),
  pending: z.number(),
})

/** A run that cannot be read spoils its own session, not the list that it stands in. */
const damaged = (sessionId: string): SessionBrief => ({
  sessionId,
  damaged: true,
  active: null,
  ended: null,
  pendingDecisions: 0,
})

function toBrief(raw: unknown): SessionBrief {
  const parsed = Row.safeParse(raw)
  if (!parsed.success) return damaged(z.object({ session_id: z.string() }).parse(raw).session_id)
  const row = parsed.data
  if (row.failed === 1 && row.code === null) return damaged(row.session_id)
  return {
    sessionId: row.session_id,
    damaged: false,
    active:
      row.active_id === null || row.active_state === null || row.active_created_at === null
        ? null
        : {
            runId: row.active_id,
            state: row.active_state,
            startedAt: row.active_started_at,
            createdAt: row.active_created_at,
          },
    ended:
      row.ended_id === null || row.ended_state === null || row.finished_at === null
        ? null
        : { runId: row.ended_id, state: row.ended_state, finishedAt: row.finished_at, errorCode: row.code },
    pendingDecisions: row.pending,
  }
}

export type BriefTables = ReturnType<typeof createBriefTables>

export function createBriefTables(db: Database) {
  const briefsSql = db.prepare(
    `SELECT wanted.value AS session_id,
       a.id AS active_id, a.state AS active_state, a.started_at AS active_started_at, a.created_at AS active_created_at,
       e.id AS ended_id, e.state AS ended_state, e.finished_at, e.error IS NOT NULL AS failed,
       CASE WHEN json_valid(e.error) THEN json_extract(e.error, '$.code') END AS code,
       (SELECT count(*) FROM decisions d WHERE d.session_id = wanted.value AND d.status = 'pending') AS pending
     FROM json_each(?) wanted
     LEFT JOIN runs a ON a.session_id = wanted.value AND a.${ACTIVE_STATES}
     LEFT JOIN runs e ON e.id = (SELECT r.id FROM runs r WHERE r.session_id = wanted.value AND r.finished_at IS NOT NULL
       ORDER BY r.finished_at DESC, r.id DESC LIMIT 1)`,
  )

  return {
    /** In the order of `sessionIds`; of one that does not exist nothing but its id. */
    of(sessionIds: readonly string[]): SessionBrief[] {
      return briefsSql.all(JSON.stringify(sessionIds)).map(toBrief)
    },
  }
}
