import { mkdirSync } from 'node:fs'
import { pino } from 'pino'
import { createStream, type RotatingFileStream } from 'rotating-file-stream'
import { describeValue } from './describe-value.ts'
import type { Clock, Log, LogFields, SecretRegistry } from './types.ts'

/** The current file, and `wheelhouse.log.1` (newest) to `.4`. */
export const LOG_FILE = 'wheelhouse.log'
export const LOG_FILES = 5
const MAX_FILE_BYTES = 10 * 1024 * 1024
/** A disk that does not keep up loses lines, not the host its memory. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
const RETRY_AFTER_MS = 30_000
const FLUSH_LIMIT_MS = 2_000

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogOptions {
  dir: string
  clock: Clock
  secrets: SecretRegistry
  level?: LogLevel
  maxFileBytes?: number
}

export interface FileLog extends Log {
  /** Resolves when what was logged is with the operating system, at the latest after 2 s. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** JSON lines in `dir`, rotated. Every line passes the registry of secrets. Logging never throws and never waits. */
export function createLog({ dir, clock, secrets, level = 'info', maxFileBytes = MAX_FILE_BYTES }: LogOptions): FileLog {
  const file = openRotating({ dir, clock, maxFileBytes })
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      // A field of a caller's can then never pass for the line's own time or level.
      nestedKey: 'fields',
      formatters: { level: (name) => ({ level: name }) },
      timestamp: () => `,"time":${clock.nowMs()}`,
    },
    { write: (line: string) => file.write(secrets.redact(line)) },
  )

  function bind(bound: LogFields): Log {
    const at =
      (name: LogLevel) =>
      (message: string, fields: LogFields = {}): void =>
        logger[name](describeValue({ ...bound, ...fields }), message)
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => bind({ ...bound, ...fields }),
    }
  }
  return { ...bind({}), flush: () => file.flush(), close: () => file.close() }
}

interface LineFile {
  write(line: string): void
  flush(): Promise<void>
  close(): Promise<void>
}

function openRotating({
  dir,
  clock,
  maxFileBytes,
}: Pick<LogOptions, 'dir' | 'clock'> & { maxFileBytes: number }): LineFile {
  let stream: RotatingFileStream | null = null
  let brokenUntilMs = 0
  let dropped = 0
  let waiting = 0
  let closed = false
  const idle = new Set<() => void>()

  function open(): RotatingFileStream | null {
    if (closed || clock.monotonicMs() < brokenUntilMs) return null
    try {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      const opened = createStream((index) => (typeof index === 'number' ? `${LOG_FILE}.${index}` : LOG_FILE), {
        path: dir,
        size: `${maxFileBytes}B`,
        rotate: LOG_FILES - 1,
        mode: 0o600,
      })
      opened.on('error', () => giveUp(opened))
      return opened
    } catch {
      giveUp(null)
      return null
    }
  }

  /** The disk is full or gone: lines are dropped, and counted, until the next try. */
  function giveUp(failed: RotatingFileStream | null): void {
    if (stream === failed) stream = null
    brokenUntilMs = clock.monotonicMs() + RETRY_AFTER_MS
  }

  function written(lines: number): (error?: Error | null) => void {
    return (error) => {
      if (error) dropped += lines
      waiting--
      if (waiting > 0) return
      for (const wake of idle) wake()
      idle.clear()
    }
  }

  function write(line: string): void {
    stream ??= open()
    if (stream === null || stream.writableLength > MAX_WAITING_BYTES) {
      dropped++
      return
    }
    waiting++
    if (dropped === 0) {
      stream.write(line, written(1))
      return
    }
    const gap = {
      level: 'warn',
      time: clock.nowMs(),
      pid: process.pid,
      fields: { dropped },
      msg: 'Log lines were lost.',
    }
    stream.write(`${JSON.stringify(gap)}\n${line}`, written(1 + dropped))
    dropped = 0
  }

  async function flush(): Promise<void> {
    if (waiting === 0) return
    const written = new Promise<void>((resolve) => idle.add(resolve))
    const limit = new AbortController()
    await Promise.race([written, clock.sleep(FLUSH_LIMIT_MS, limit.signal).catch(() => undefined)])
    limit.abort()
  }

  return {
    write,
    flush,
    async close() {
      await flush()
      closed = true
      const last = stream
      stream = null
      if (last === null || last.destroyed) return
      await new Promise<void>((resolve) => {
        last.once('error', () => resolve())
        last.end(resolve)
      })
    },
  }
}
