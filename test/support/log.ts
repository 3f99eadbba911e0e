import type { Log, LogFields } from '../../src/main/platform/types.ts'

export interface LogEntry {
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  fields: LogFields
}

export interface MemoryLog extends Log {
  /** Everything that was logged, children's lines included, oldest first. */
  readonly entries: readonly LogEntry[]
}

export function createMemoryLog(): MemoryLog {
  const entries: LogEntry[] = []
  return { ...logInto(entries, {}), entries }
}

function logInto(entries: LogEntry[], bound: LogFields): Log {
  const at =
    (level: LogEntry['level']) =>
    (message: string, fields: LogFields = {}): void =>
      void entries.push({ level, message, fields: { ...bound, ...fields } })
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => logInto(entries, { ...bound, ...fields }),
  }
}
