/** Runs by the clock: the source `cron`. The only door of this folder. */
export { scheduleMigrations } from './migrations.ts'
export { createSchedules } from './schedules.ts'
export type { Schedules, SchedulesDeps } from './schedules.ts'
export type { FiringPort } from './firing.ts'
export type * from './types.ts'
