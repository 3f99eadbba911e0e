import { EXIT } from './exit-codes.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** One Ctrl-C can come twice: from the terminal, and handed on by npm or by `npm start`. Nobody presses twice so fast. */
const SAME_PRESS_MS = 300

/** What tells a command to end: SIGINT, SIGTERM, SIGHUP, and nobody who reads standard output any more. */
export interface Interrupts {
  /** Aborts at the first. A second signal, not the echo of the first, leaves at once, with exit code 130. */
  readonly signal: AbortSignal
  /** The next one is a first one again: what goes on now is more than the command that was told to end. */
  renew(): AbortSignal
}

export interface InterruptSource {
  on(signal: (typeof SIGNALS)[number], listener: () => void): unknown
  exit(code: number): void
}

export function listenForInterrupts(
  source: InterruptSource = process,
  nowMs: () => number = () => performance.now(),
): Interrupts {
  const first = new AbortController()
  let current = first
  let toldAtMs = Number.NEGATIVE_INFINITY
  const tell = (): void => {
    const atMs = nowMs()
    if (atMs - toldAtMs < SAME_PRESS_MS) return
    toldAtMs = atMs
    if (current.signal.aborted) source.exit(EXIT.interrupted)
    else current.abort()
  }
  for (const signal of SIGNALS) source.on(signal, tell)
  // A closed pipe or terminal is told to the stream, and would end the process in the middle of everything.
  process.stdout.on('error', () => first.abort())
  process.stderr.on('error', () => undefined)
  return {
    signal: first.signal,
    renew() {
      current = new AbortController()
      return current.signal
    },
  }
}

/** Resolves when the signal aborts. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
