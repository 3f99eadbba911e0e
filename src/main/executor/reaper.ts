import type { CloseOptions } from '../workers/index.ts'
import { closeRecord, endRoute } from './open-worker.ts'
import type { Parts } from './types.ts'

/**
 * Their host is gone, and their standard input with it, so that nothing of theirs is worth a long wait: two seconds after
 * the start nothing lives but what outlives SIGKILL. All of it stays under what the runtime waits for a session's earlier
 * worker.
 */
const ORPHAN: CloseOptions = { closeStdinMs: 0, termGraceMs: 500, confirmMs: 2_500 }

export type Reaped = 'absent' | 'stopped' | 'alive'

export interface Reaper {
  /** What became of the workers that an earlier host left behind for this run; waits for their end. */
  outcome(ref: { sessionId: string; runId: string }): Promise<Reaped>
  /** Resolves once every worker of an earlier host is gone or held. Never rejects. */
  readonly done: Promise<void>
}

/**
 * Ends what an earlier host left behind: each open record by its identity, or by its mark where it never told one. Runs
 * beside the opening window; a session waits for its own workers alone.
 */
export function reapEarlierWorkers(parts: Parts): Reaper {
  const { ledger, workers, log } = parts
  const left = ledger.open()
  const reaping = left.map(async (record): Promise<Reaped> => {
    try {
      const outcome = await workers.reap(record.workerId, record.process, ORPHAN)
      await closeRecord(parts, record.workerId, outcome)
      if (outcome.kind === 'held') return 'alive'
      return outcome.strongest === 'none' ? 'absent' : 'stopped'
    } catch (error) {
      log.error('a worker of an earlier start could not be ended', { workerId: record.workerId, error })
      return 'alive'
    }
  })
  return {
    async outcome({ sessionId }) {
      const own = await Promise.all(reaping.filter((_, index) => left[index]?.sessionId === sessionId))
      if (own.includes('alive')) return 'alive'
      return own.includes('stopped') ? 'stopped' : 'absent'
    },
    done: Promise.all(reaping)
      .then(() => tidy())
      .catch((error: unknown) => {
        // A host that stops at once takes the database away under it: the next start does the rest.
        log.warn('what earlier workers left could not be tidied up', { error })
      }),
  }

  async function tidy(): Promise<void> {
    const keep = new Set(ledger.open().map((record) => record.workerId))
    // A route whose end could not be written when its worker's was.
    const orphans = parts.providers.boundWorkers().filter((workerId) => !keep.has(workerId))
    for (const workerId of orphans) await endRoute(parts, workerId)
    const swept = await workers.sweep(keep)
    if (left.length > 0 || swept.removed > 0)
      log.info('workers of an earlier start are settled', { found: left.length, ...swept })
    await ledger.prune()
  }
}
