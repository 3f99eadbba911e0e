export type { AttemptOutcome } from './breaker.ts'
export { createBreakers } from './breakers.ts'
export type { Attempt, Breakers, BreakerView } from './breakers.ts'
export { faultOf, isTransport, outcomeOf } from './outcome.ts'
