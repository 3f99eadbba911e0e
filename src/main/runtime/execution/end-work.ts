import type { Log } from '../../platform/types.ts'
import type { EndWork } from '../types.ts'

/** Several kinds of last work as one, done in the order of `works`. One that fails does not keep the next from being done. */
export function combineEndWork(works: readonly EndWork[], log: Log): EndWork {
  return {
    pending: (runId) => works.some((work) => work.pending(runId)),
    async settle(run, signal) {
      for (const work of works) {
        if (!work.pending(run.runId)) continue
        signal.throwIfAborted()
        await work.settle(run, signal).catch((error: unknown) => {
          log.warn("A part of a run's last work did not succeed.", { error, runId: run.runId })
        })
      }
    },
  }
}
