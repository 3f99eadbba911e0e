import type { CloseOptions, ReleaseOutcome } from '../workers/index.ts'
import { closeRecord } from './open-worker.ts'
import type { WorkerPool } from './pool.ts'
import type { LiveWorker, Parts } from './types.ts'

export interface AsideWorkers extends Pick<WorkerPool, 'giveBack' | 'release' | 'closeAll'> {
  add(worker: LiveWorker): void
}

/** Workers that answer one question and are gone: none is kept warm, and none is their session's. */
export function createAsideWorkers(parts: Parts): AsideWorkers {
  const live = new Map<LiveWorker, Promise<ReleaseOutcome> | null>()

  async function end(worker: LiveWorker, options: CloseOptions | undefined): Promise<ReleaseOutcome> {
    const { workerId } = worker
    const outcome = await worker.session.close(options)
    try {
      await closeRecord(parts, workerId, outcome)
    } catch (error) {
      // The record stays open: the next start looks for the worker again, and finds nothing.
      parts.log.error('what became of a worker could not be written', { workerId, error })
    } finally {
      live.delete(worker)
    }
    return outcome
  }

  function release(worker: LiveWorker, options?: CloseOptions): Promise<ReleaseOutcome> {
    const ending = live.get(worker)
    if (ending !== undefined && ending !== null) return ending
    const ended = end(worker, options)
    live.set(worker, ended)
    return ended
  }

  return {
    add: (worker) => void live.set(worker, null),
    giveBack: (worker) => void release(worker),
    release,
    async closeAll(options) {
      await Promise.all([...live.keys()].map((worker) => release(worker, options)))
    },
  }
}
