/** The first steps on a fresh machine: an agent, a model for it, a folder, and the first session. */
export { FirstRun } from './FirstRun.tsx'
