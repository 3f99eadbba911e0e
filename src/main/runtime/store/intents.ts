/** The accepted requests, which never change, and the submissions that found them by an idempotency key. */
import { z } from 'zod'
import { Source } from '../../../shared/vocabulary.ts'
import type { Database } from '../../platform/types.ts'
import { PolicySnapshot } from '../types.ts'
import { readJson } from './json.ts'

/** What was asked, as it was accepted. */
export const IntentRequest = z.object({
  text: z.string(),
  inputIds: z.array(z.string()),
  requestedMode: z.string().nullable(),
  literal: z.boolean(),
  failover: z.literal('off').optional(),
  /** False: a maintenance run, of which the transcript says nothing. */
  conversation: z.literal(false).optional(),
})
export type IntentRequest = z.infer<typeof IntentRequest>

export interface Intent {
  id: string
  sessionId: string
  source: Source
  entrySource: Source
  fingerprint: string
  request: IntentRequest
  policy: PolicySnapshot
  createdAt: number
}

const IntentColumns = z.object({
  id: z.string(),
  session_id: z.string(),
  source: Source,
  entry_source: Source,
  fingerprint: z.string(),
  request: z.string(),
  policy: z.string(),
  created_at: z.number(),
})

const SubmissionColumns = z.object({
  scope: z.string(),
  fingerprint: z.string(),
  run_id: z.string().nullable(),
})

export interface Submission {
  sessionId: string
  /** `submit`, or `retry:<intentId>`. */
  scope: string
  keyHash: string
  fingerprint: string
  intentId: string
  runId: string
  at: number
}

export type IntentTable = ReturnType<typeof createIntentTable>

export function createIntentTable(db: Database) {
  const insertSql = db.prepare(
    `INSERT INTO intents (id, session_id, source, entry_source, fingerprint, request, policy, created_at)
     VALUES (@id, @sessionId, @source, @entrySource, @fingerprint, @request, @policy, @createdAt)`,
  )
  const getSql = db.prepare('SELECT * FROM intents WHERE id = ?')
  const findSql = db.prepare('SELECT scope, fingerprint, run_id FROM submissions WHERE session_id = ? AND key_hash = ?')
  const agedSql = db.prepare('SELECT 1 FROM submissions WHERE created_at < ? LIMIT 1').pluck()
  const forgetSql = db.prepare(
    'DELETE FROM submissions WHERE rowid IN (SELECT rowid FROM submissions WHERE created_at < ? LIMIT ?)',
  )
  const rememberSql = db.prepare(
    `INSERT INTO submissions (session_id, scope, key_hash, fingerprint, intent_id, run_id, created_at)
     VALUES (@sessionId, @scope, @keyHash, @fingerprint, @intentId, @runId, @at)`,
  )

  return {
    insert(intent: Intent): void {
      insertSql.run({ ...intent, request: JSON.stringify(intent.request), policy: JSON.stringify(intent.policy) })
    },
    get(id: string): Intent | null {
      const raw = getSql.get(id)
      if (raw === undefined) return null
      const row = IntentColumns.parse(raw)
      return {
        id: row.id,
        sessionId: row.session_id,
        source: row.source,
        entrySource: row.entry_source,
        fingerprint: row.fingerprint,
        request: readJson(IntentRequest, row.request, `intents.request of ${row.id}`),
        policy: readJson(PolicySnapshot, row.policy, `intents.policy of ${row.id}`),
        createdAt: row.created_at,
      }
    },
    findSubmission(
      sessionId: string,
      keyHash: string,
    ): { scope: string; fingerprint: string; runId: string | null } | null {
      const raw = findSql.get(sessionId, keyHash)
      if (raw === undefined) return null
      const row = SubmissionColumns.parse(raw)
      return { scope: row.scope, fingerprint: row.fingerprint, runId: row.run_id }
    },
    hasSubmissionBefore(at: number): boolean {
      return agedSql.get(at) !== undefined
    },
    forgetBefore(at: number, limit: number): number {
      return forgetSql.run(at, limit).changes
    },
    remember(submission: Submission): void {
      rememberSql.run(submission)
    },
  }
}
