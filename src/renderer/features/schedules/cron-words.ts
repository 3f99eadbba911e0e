import { strings } from '../../strings/index.ts'

const NAMED: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
}
const NUMBER = /^\d{1,2}$/

/** What a crontab line says, in words where it is one of the usual ones; else the line itself. */
export function cronWords(cron: string): string {
  const { every } = strings.schedules
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...more] = (NAMED[cron] ?? cron).split(/\s+/)
  if (more.length > 0 || month !== '*' || !NUMBER.test(minute)) return cron
  if (hour === '*' && day === '*' && weekday === '*') return every.hour(minute.padStart(2, '0'))
  if (!NUMBER.test(hour)) return cron
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`
  if (day === '*' && weekday === '*') return every.day(time)
  if (day === '*' && weekday === '1-5') return every.weekday(time)
  if (day === '*' && /^[0-7]$/.test(weekday)) return every.week(Number(weekday), time)
  if (weekday === '*' && NUMBER.test(day)) return every.month(Number(day), time)
  return cron
}
