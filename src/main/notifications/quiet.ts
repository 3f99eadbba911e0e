import type { SettingValues } from '../../shared/settings.ts'

/** Whether nobody wants to be told now: switched off, or within the hours of "do not disturb", by this machine's clock. */
export function isQuietTime(
  { notifications, doNotDisturb }: Pick<SettingValues, 'notifications' | 'doNotDisturb'>,
  nowMs: number,
): boolean {
  if (!notifications) return true
  if (doNotDisturb === null) return false
  const now = new Date(nowMs)
  const minute = now.getHours() * 60 + now.getMinutes()
  const from = minuteOf(doNotDisturb.from)
  const to = minuteOf(doNotDisturb.to)
  // From 22:00 to 07:00 goes over midnight.
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
