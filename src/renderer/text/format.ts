/** Times, durations and amounts as people read them. Times are relative up to a day, then absolute. */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const dayOfYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const dayAndYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })
const timeOnly = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

/** `now`, `4 min`, `3 h`, `12 May`, `12 May 2023`. Both in Unix ms. */
export function shortTime(atMs: number, nowMs: number): string {
  const ageMs = nowMs - atMs
  if (ageMs < MINUTE_MS) return 'now'
  if (ageMs < HOUR_MS) return `${Math.floor(ageMs / MINUTE_MS)} min`
  if (ageMs < DAY_MS) return `${Math.floor(ageMs / HOUR_MS)} h`
  const sameYear = new Date(atMs).getFullYear() === new Date(nowMs).getFullYear()
  return (sameYear ? dayOfYear : dayAndYear).format(atMs)
}

/** `12 May` of a date as `2026-05-12`. */
export function dayName(date: string): string {
  return dayOfYear.format(new Date(`${date}T12:00:00`))
}

/** The time alone on the same day, else with the date. */
export function timeOfDay(atMs: number, nowMs: number): string {
  const sameDay = new Date(atMs).toDateString() === new Date(nowMs).toDateString()
  return (sameDay ? timeOnly : exact).format(atMs)
}

export function exactTime(atMs: number): string {
  return exact.format(atMs)
}

/** `340 ms`, `1.2 s`, `42 s`, `3 min 5 s`, `2 h 4 min`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000
  if (seconds < 1) return `${Math.round(seconds * 1_000)} ms`
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** `812 B`, `34 kB`, `1.2 MB`. */
export function byteSize(bytes: number): string {
  return bytes < 1_000 ? `${bytes} B` : `${amount(bytes)}B`
}

/** `812`, `34 k`, `1.2 M`. */
export function amount(count: number): string {
  if (count < 1_000) return String(count)
  if (count < 10_000) return `${(count / 1_000).toFixed(1)} k`
  if (count < 1_000_000) return `${Math.round(count / 1_000)} k`
  return `${(count / 1_000_000).toFixed(1)} M`
}
