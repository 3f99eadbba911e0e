/** One line of the log, as far as it is in the form that the host writes. */
export interface LogLine {
  /** `14:03:22`, or nothing. */
  time: string
  level: 'debug' | 'info' | 'warn' | 'error' | 'other'
  text: string
  /** What else the line holds, as words; empty where that is nothing. */
  rest: string
}

const LEVELS: Readonly<Record<number, LogLine['level']>> = {
  10: 'debug',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'error',
}
const NAMES: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error'])
const clock = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' })

/** Reads a line of the log. Lines of another form are shown as they are. */
export function readLogLine(line: string): LogLine {
  const fields = parse(line)
  if (fields === null) return { time: '', level: 'other', text: line, rest: '' }
  const { time, level, msg, pid: _pid, hostname: _hostname, ...rest } = fields
  return {
    time: timeOf(time),
    level: levelOf(level),
    text: typeof msg === 'string' ? msg : '',
    rest: Object.entries(rest)
      .map(([name, value]) => `${name}: ${asWords(value)}`)
      .join(' · '),
  }
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

function timeOf(time: unknown): string {
  const at = typeof time === 'number' || typeof time === 'string' ? new Date(time) : null
  return at === null || Number.isNaN(at.getTime()) ? '' : clock.format(at)
}

function levelOf(level: unknown): LogLine['level'] {
  if (typeof level === 'number') return LEVELS[level] ?? 'other'
  return typeof level === 'string' && NAMES.has(level) ? (level as LogLine['level']) : 'other'
}

function asWords(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(asWords).join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([name, each]) => `${name} ${asWords(each)}`)
    .join(', ')
}
