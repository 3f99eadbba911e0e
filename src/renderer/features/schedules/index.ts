/** Prompts that agents get at set times. */
export { SchedulesView } from './SchedulesView.tsx'
