import { EXIT } from './exit-codes.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Aborts at the first SIGINT, SIGTERM or SIGHUP, and when nobody reads standard output any more. A second signal leaves at
 * once, with exit code 130.
 */
export function listenForInterrupt(): AbortSignal {
  const interrupted = new AbortController()
  const tell = (): void => {
    if (interrupted.signal.aborted) process.exit(EXIT.interrupted)
    interrupted.abort()
  }
  for (const signal of SIGNALS) process.on(signal, tell)
  // A closed pipe or terminal is told to the stream, and would end the process in the middle of everything.
  process.stdout.on('error', () => interrupted.abort())
  process.stderr.on('error', () => undefined)
  return interrupted.signal
}

/** Resolves when the signal aborts. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
