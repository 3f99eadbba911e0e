import type { FaultCase } from './types.ts'
import { openLane } from './lane.ts'
import type { Lane } from './lane.ts'

/** A round that takes longer has hung. */
const ROUND_MS = 120_000

/** Plays rounds in one lane until one breaks: what it left behind would break the next ones. Answers what did not hold. */
export async function play(
  fault: FaultCase,
  rounds: number,
  lane: Lane,
): Promise<{ played: number; broken: string[] }> {
  for (let round = 1; round <= rounds; round++) {
    const error = await bounded(fault.round(lane))
    if (error !== null) return { played: round, broken: [error] }
  }
  return { played: rounds, broken: lane.audit() }
}

/** `play` in lanes of its own, a new one after each round that broke. */
export async function playInFull(
  fault: FaultCase,
  rounds: number,
  program: string,
): Promise<{ played: number; broken: string[] }> {
  const broken: string[] = []
  let played = 0
  while (played < rounds) {
    await using lane = await openLane(fault.lane, program)
    const part = await play(fault, rounds - played, lane)
    played += part.played
    broken.push(...part.broken)
  }
  return { played, broken }
}

async function bounded(round: Promise<void>): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`a round took longer than ${ROUND_MS} ms`), ROUND_MS)
  })
  const done = round.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
  return Promise.race([done, late]).finally(() => clearTimeout(timer))
}
