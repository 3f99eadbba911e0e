/** How a probe of an agent ends before its answer came. */
import { WorkerError } from '../../errors.ts'

/** Told of each line that no parser could read; fails once they are more than a confused program says. */
export function unreadableLines(
  product: string,
  limits: { readonly invalidLines: number; readonly invalidBytes: number },
  fail: (error: WorkerError) => void,
): (bytes: number) => void {
  let lines = 0
  let total = 0
  return (bytes) => {
    lines += 1
    total += bytes
    if (lines > limits.invalidLines || total > limits.invalidBytes)
      fail(new WorkerError('worker_protocol_error', `${product} sent too much that cannot be read.`))
  }
}

/** `said`: the last words on its standard error, if there were any. */
export function endedAtOnce(product: string, said: string): WorkerError {
  return new WorkerError(
    'agent_exited_early',
    said === '' ? `${product} ended at once and said nothing.` : `${product} ended at once. It said: ${said}`,
  )
}
