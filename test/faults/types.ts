import { isDeepStrictEqual, inspect } from 'node:util'
import type { Lane } from './lane.ts'

/** One crash or one race, played again and again: each round in a session of its own. */
export interface FaultCase {
  /** The contract's. */
  readonly id: string
  /** The named place where a process dies, or what two processes do at once. */
  readonly at: string
  /** What holds every time, as the rest of a sentence that begins with `at`. */
  readonly holds: string
  /** How often it is played in full. */
  readonly rounds: number
  /** What its long-lived processes are started with. */
  readonly lane?: 'webhook'
  /** @throws Error telling what did not hold. */
  round(lane: Lane): Promise<void>
}

/** @throws Error when `actual` is not `expected`, naming it. */
export function same(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return
  throw new Error(`${what}: ${show(actual)}, not ${show(expected)}`)
}

/** @throws Error when it does not hold. */
export function holds(what: string, condition: boolean): void {
  if (!condition) throw new Error(`does not hold: ${what}`)
}

/** The message that a call was refused with. @throws Error when it was not refused. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  return call.then(
    (value) => {
      throw new Error(`was not refused, but answered ${show(value)}`)
    },
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
}

const show = (value: unknown): string => inspect(value, { depth: 6, breakLength: Number.POSITIVE_INFINITY })
