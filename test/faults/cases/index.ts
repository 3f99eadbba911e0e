import type { FaultCase } from '../types.ts'
import { afterAdmission, atAnyMoment, beforeAdmission, inTheStream } from './admission.ts'
import {
  afterPrepared,
  afterTheEnd,
  answered,
  beforePrepared,
  endWithoutWork,
  inRecovery,
  insideEnd,
  maintenance,
  plannedDelivery,
} from './ending.ts'
import { deletedInput, tornCopy, whileSending } from './materials.ts'
import { elsewhere, groups, oneItem, oneKey, stoppedOwner, twoAnswers, twoKeys } from './races.ts'

/** A process is killed with -9 at a named place. */
export const CRASHES: readonly FaultCase[] = [
  beforeAdmission,
  afterAdmission,
  inTheStream,
  beforePrepared,
  afterPrepared,
  tornCopy,
  ...insideEnd,
  plannedDelivery,
  endWithoutWork,
  ...afterTheEnd,
  inRecovery,
  answered,
  maintenance,
  deletedInput,
  atAnyMoment,
]

/** Two processes do something at once. */
export const RACES: readonly FaultCase[] = [twoKeys, oneKey, groups, twoAnswers, oneItem, whileSending]

/** Those that wait for real time to pass. */
export const SLOW: readonly FaultCase[] = [stoppedOwner, elsewhere]
