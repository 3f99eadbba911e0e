/** One line of the log, as far as it is in the form that the host tells. */
export interface LogLine {
  /** `14:03:22`, or nothing. */
  time: string
  level: 'debug' | 'info' | 'warn' | 'error' | 'other'
  text: string
  /** What else the line holds, as words; empty where that is nothing. */
  rest: string
}

const NAMES: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error'])
const clock = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' })

/** Reads a line of the log. Lines of another form are shown as they are. */
export function readLogLine(line: string): LogLine {
  const told = parse(line)
  if (told === null) return { time: '', level: 'other', text: line, rest: '' }
  const { atMs, level, message, fields } = told
  return {
    time: timeOf(atMs),
    level: levelOf(level),
    text: typeof message === 'string' ? message : '',
    rest: isRecord(fields)
      ? Object.entries(fields)
          .map(([name, value]) => `${name}: ${asWords(value)}`)
          .join(' · ')
      : '',
  }
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function timeOf(atMs: unknown): string {
  const at = typeof atMs === 'number' ? new Date(atMs) : null
  return at === null || Number.isNaN(at.getTime()) ? '' : clock.format(at)
}

function levelOf(level: unknown): LogLine['level'] {
  return typeof level === 'string' && NAMES.has(level) ? (level as LogLine['level']) : 'other'
}

/** Without the stack of an error: the exported diagnostics have it. */
function asWords(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(asWords).join(', ')
  if (!isRecord(value)) return String(value)
  return Object.entries(value)
    .filter(([name]) => name !== 'stack')
    .map(([name, each]) => `${name} ${asWords(each)}`)
    .join(', ')
}
