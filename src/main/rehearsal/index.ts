export { createRehearsal } from './rehearsal.ts'
export { REHEARSAL_MODEL } from './models.ts'
export type { Rehearsal, RehearsalDeps } from './types.ts'
