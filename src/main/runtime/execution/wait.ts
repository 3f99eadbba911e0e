import { AppError } from '../../../shared/errors.ts'
import { isTerminal } from '../../../shared/vocabulary.ts'
import type { RuntimeContext } from '../context.ts'
import type { Watch } from '../events/watch.ts'
import type { RunRow } from '../types.ts'

const DEFAULT_MS = 30 * 60_000
const LONGEST_MS = 24 * 3_600_000

/**
 * Waits for the end of a run, whoever writes it: its owner, recovery, another process. `terminal: false` after the timeout.
 * @throws AppError `run_not_found`; the signal's reason.
 */
export function createWait({ tables, changes, clock }: RuntimeContext, watch: Watch) {
  return function wait(
    request: { runId: string; timeoutMs?: number },
    signal?: AbortSignal,
  ): Promise<{ run: RunRow; terminal: boolean }> {
    const read = (): RunRow => {
      const run = tables.runs.get(request.runId)
      if (run === null) throw new AppError('run_not_found', 'This run no longer exists.', { detail: request.runId })
      return run
    }
    return new Promise((resolve, reject) => {
      const stack = new DisposableStack()
      const settle = (end: () => void): void => {
        stack.dispose()
        signal?.removeEventListener('abort', abort)
        end()
      }
      const look = (atLast = false): void => {
        try {
          const run = read()
          const terminal = isTerminal(run.state)
          if (terminal || atLast) settle(() => resolve({ run, terminal }))
        } catch (error) {
          settle(() => reject(error))
        }
      }
      const abort = (): void => settle(() => reject(signal?.reason as Error))
      if (signal?.aborted === true) return abort()
      signal?.addEventListener('abort', abort, { once: true })
      stack.use(changes.subscribe((change) => change.kind === 'run' && change.runId === request.runId && look()))
      stack.use(watch.onForeignCommit(() => look()))
      stack.use(clock.after(Math.min(LONGEST_MS, request.timeoutMs ?? DEFAULT_MS), () => look(true)))
      look()
    })
  }
}
