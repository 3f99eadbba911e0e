/**
 * `npm run test:faults [-- --rounds N --only RT-A32,RT-A36 --lanes N]`: real processes that are killed, or race, again and
 * again. One line for each failpoint, the last line `violations: N`; exit code 0 only at 0.
 */
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleProgram } from './bundle.ts'
import { CRASHES, RACES, SLOW } from './cases/index.ts'
import { playInFull } from './play.ts'
import type { FaultCase } from './types.ts'

/** So much is played in one database. */
const PART = 50

const { values } = parseArgs({
  options: { rounds: { type: 'string' }, only: { type: 'string' }, lanes: { type: 'string' } },
})
const only = values.only?.split(',')
const cases = [...CRASHES, ...RACES, ...SLOW].filter(
  ({ id, at }) => only?.some((name) => name === id || name === at) ?? true,
)
if (cases.length === 0) {
  console.error(
    `There is no case ${values.only ?? ''}. There are: ${[...CRASHES, ...RACES, ...SLOW].map(({ id }) => id).join(', ')}.`,
  )
  process.exit(2)
}
// One more than there are processors: a round waits now and then.
const lanes = Number(values.lanes ?? availableParallelism() + 1)

interface Score {
  rounds: number
  played: number
  broken: string[]
  ms: number
}

const scores = new Map<FaultCase, Score>()
const parts: { fault: FaultCase; rounds: number }[] = []
for (const fault of cases) {
  const rounds = values.rounds === undefined ? fault.rounds : Math.min(Number(values.rounds), fault.rounds)
  scores.set(fault, { rounds, played: 0, broken: [], ms: 0 })
  for (let left = rounds; left > 0; left -= PART) parts.push({ fault, rounds: Math.min(PART, left) })
}

const program = await bundleProgram()
let violations = 0
try {
  await Promise.all(Array.from({ length: lanes }, work))
} finally {
  rmSync(dirname(program), { recursive: true, force: true })
}
console.log(`violations: ${violations}`)
process.exitCode = violations === 0 ? 0 : 1

async function work(): Promise<void> {
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const score = scores.get(part.fault)
    if (score === undefined) continue
    const began = performance.now()
    const { played, broken } = await playInFull(part.fault, part.rounds, program)
    score.ms += performance.now() - began
    score.played += played
    score.broken.push(...broken)
    violations += broken.length
    if (score.played >= score.rounds) report(part.fault, score)
  }
}

function report({ id, at, holds }: FaultCase, { played, broken, ms }: Score): void {
  console.log(
    `${id}  ${at}: ${played} rounds, ${broken.length} violations (${Math.round(ms / played)} ms each)  ${holds}`,
  )
  for (const text of broken.slice(0, 3)) console.log(`    ${text}`)
}
