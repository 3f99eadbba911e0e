import { AppError } from '../../../shared/errors.ts'
import type { RuntimeContext } from '../context.ts'
import type { Admissions } from '../admission/submit.ts'
import type { DraftRow } from '../types.ts'

const MAX_TEXT_BYTES = 256 * 1024

export interface Drafts {
  get(sessionId: string): DraftRow | null
  /**
   * `expectedRev` 0: there is none yet. Queued: it is submitted once the run that is under way has completed.
   * @throws AppError `draft_conflict` (`data`: the draft that is there), `session_not_found`, `prompt_invalid`.
   */
  set(request: {
    sessionId: string
    expectedRev: number
    text: string
    inputIds?: readonly string[]
    queued?: boolean
  }): Promise<DraftRow>
}

export function createDrafts({ store, tables, clock, changes }: RuntimeContext): Drafts {
  return {
    get: (sessionId) => tables.drafts.get(sessionId),
    async set({ sessionId, expectedRev, text, inputIds = [], queued = false }) {
      if (Buffer.byteLength(text) > MAX_TEXT_BYTES) {
        throw new AppError('prompt_invalid', 'A prompt has at most 256 KiB.')
      }
      return store.writeTx((tx) => {
        if (tables.sessions.get(sessionId) === null) {
          throw new AppError('session_not_found', 'This session no longer exists.', { detail: sessionId })
        }
        if (!tables.drafts.put(sessionId, { text, inputIds, queued }, expectedRev, clock.nowMs())) {
          throw new AppError('draft_conflict', 'Another window has changed this draft.', {
            data: tables.drafts.get(sessionId),
          })
        }
        store.afterCommit(tx, () => changes.tell({ kind: 'draft', sessionId }))
        return { rev: expectedRev + 1, text, inputIds, queued }
      })
    },
  }
}

/**
 * Submits a queued draft after a run that completed, and empties it. After any other end it stays and says why by the run.
 * The draft's revision is its key, so that it is sent once whatever happens in between.
 */
export function createDraftQueue(ctx: RuntimeContext, drafts: Drafts, admissions: Admissions) {
  const { tables, log } = ctx
  return async function afterRun(runId: string): Promise<void> {
    const run = tables.runs.get(runId)
    if (run?.state !== 'completed') return
    const { sessionId } = run
    const draft = tables.drafts.get(sessionId)
    if (draft?.queued !== true || (draft.text.trim() === '' && draft.inputIds.length === 0)) return
    const source = tables.runs.policy(runId)?.entrySource ?? run.source
    try {
      const { text, inputIds: inputs, rev } = draft
      await admissions.submit({ sessionId, text, inputs, source, key: `draft:${sessionId}:${rev}` })
      await drafts.set({ sessionId, expectedRev: rev, text: '' })
    } catch (error) {
      log.warn('A queued draft could not be submitted and stays.', { error, sessionId })
    }
  }
}
