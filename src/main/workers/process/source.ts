/** What a platform must be able to tell about processes. Everything that decides or signals is built on it in `table.ts`. */

export interface ProcessRow {
  pid: number
  ppid: number
  pgid: number
  /** Kernel session; null where the platform does not tell. */
  sid: number | null
  uid: number
  zombie: boolean
  /** Verbatim, compared exactly. */
  startToken: string
  startedAtMs: number
}

export interface ProcessSource {
  /** Null: cannot be read, so nothing can be identified. */
  bootId(): Promise<string | null>
  /** Null: no such process. `unreadable`: the kernel did not answer. */
  row(pid: number): Promise<ProcessRow | null | 'unreadable'>
  /** Everyone; null: the listing could not be read. */
  rows(): Promise<readonly ProcessRow[] | null>
  /** The pids among `rows` whose environment carries this worker's mark; empty where environments cannot be read. */
  marked(rows: readonly ProcessRow[], workerId: string): Promise<ReadonlySet<number>>
}

/** The variable by which a worker's descendants are known, whatever session or parent they have. */
export const WORKER_MARK = 'WHEELHOUSE_WORKER'

/**
 * Lets callers that ask in the same turn of the event loop, or wait for a scan to end, share the next one. A call made
 * while a scan runs never gets the running one: what it wants to see may have happened after that began.
 */
export function sharedScan<T>(scan: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | null = null
  const begin = async (): Promise<T> => {
    await running
    await new Promise((resolve) => setImmediate(resolve))
    next = null
    const mine = scan()
    running = mine.catch(() => undefined)
    return mine
  }
  return () => (next ??= begin())
}
