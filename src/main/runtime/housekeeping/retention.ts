import { nextTurn } from '../../platform/index.ts'
import type { RuntimeContext } from '../context.ts'

const DAY_MS = 24 * 3_600_000
const RUNS_KEPT_MS = 90 * DAY_MS
const RUNS_KEPT = 50
const SUBMISSIONS_KEPT_MS = 180 * DAY_MS
/** So many sessions are looked at in one go. */
const SESSIONS = 200
/** Rows that one transaction may touch. */
const PAGE = 512

/**
 * Lets go of what is past its time: runs that ended 90 days ago, but for the last 50 of a session, with the beginning of the
 * log that was theirs; keys of submissions after 180 days. Transcripts stay.
 */
export function createRetention({ clock, store, tables }: RuntimeContext) {
  /** Events first and their run last: a crash in between leaves a run with fewer events, and the next round goes on. */
  async function prune(sessionId: string, runId: string): Promise<void> {
    const last = tables.events.lastOf(runId)
    if (last !== null) {
      while (await store.writeTx(() => tables.events.dropUpTo(sessionId, last, PAGE) === PAGE));
    }
    await store.writeTx(() => tables.runs.delete(runId))
  }

  return async function retain(): Promise<{ runs: number; submissions: number }> {
    let runs = 0
    const before = clock.nowMs() - RUNS_KEPT_MS
    for (let after: string | null = ''; after !== null; after = tables.sessions.idAfter(after, SESSIONS)) {
      const old = tables.runs.sessionsWithRunsBefore({ before, kept: RUNS_KEPT, after, limit: SESSIONS })
      for (const sessionId of old) {
        for (const runId of tables.runs.past(sessionId, before, RUNS_KEPT)) {
          await prune(sessionId, runId)
          runs++
        }
      }
      await nextTurn()
    }
    let submissions = 0
    const oldest = clock.nowMs() - SUBMISSIONS_KEPT_MS
    while (tables.intents.hasSubmissionBefore(oldest)) {
      submissions += await store.writeTx(() => tables.intents.forgetBefore(oldest, PAGE))
    }
    return { runs, submissions }
  }
}
