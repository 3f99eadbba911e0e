import { Cron } from 'croner'
import { AppError } from '../../shared/errors.ts'

const NICKNAME = /^@(?:hourly|daily|weekly|monthly|yearly)$/

/**
 * The times after `afterMs` at which a schedule is due, the earliest first and at most `count` of them (Unix ms). An hour that
 * the clocks leave out counts as the one after it, one that comes twice counts once.
 * @throws AppError `schedule_invalid`: the pattern is none, or there is no such time zone.
 */
export function dueTimes(pattern: string, timeZone: string, afterMs: number, count: number): number[] {
  const text = pattern.trim()
  const isNickname = NICKNAME.test(text)
  if (!isNickname && text.split(/\s+/).length !== 5) throw invalid(`${pattern} has not five fields`)
  try {
    const cron = new Cron(text, { timezone: timeZone, mode: '5-part', paused: true })
    return cron.nextRuns(count, new Date(afterMs)).map((date) => date.getTime())
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error))
  }
}

/** Null: never again. @throws AppError `schedule_invalid`. */
export function nextTime(pattern: string, timeZone: string, afterMs: number): number | null {
  return dueTimes(pattern, timeZone, afterMs, 1)[0] ?? null
}

function invalid(detail: string): AppError {
  return new AppError(
    'schedule_invalid',
    'That is no time to start at. Give five fields as in a crontab, such as "0 9 * * 1-5", and a time zone such as Europe/Berlin.',
    { detail },
  )
}
