/**
 * `npm run test:takeover [-- --rounds N]`: takeover of a config file that is killed with -9 at every named place, ten times
 * each. One line for each place, the last line `violations: N`; exit code 0 only at 0.
 */
import { parseArgs } from 'node:util'
import {
  DISABLING,
  disablingRound,
  ENABLING,
  enablingRound,
  folderRound,
} from '../main/providers/takeover/crash-rounds.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } })
const rounds = Number(values.rounds)
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error('Give the rounds as a whole number above 0.')
  process.exit(2)
}

let violations = 0
for (const [action, points, round] of [
  ['enable', ENABLING, enablingRound],
  ['disable', DISABLING, disablingRound],
  // Nothing is there to be copied, and what was made is removed: one write less.
  ['enable in a new folder', ENABLING.filter((point) => !point.endsWith('#4')), folderRound.bind(null, 'enable')],
  [
    'disable in a new folder',
    DISABLING.filter((point) => !/(?:write|rename)#3$/.test(point)),
    folderRound.bind(null, 'disable'),
  ],
] as const) {
  for (const point of points) {
    const broken: string[] = []
    for (let played = 0; played < rounds; played++) {
      await round(point).catch((error: unknown) => broken.push(error instanceof Error ? error.message : String(error)))
    }
    violations += broken.length
    console.log(`PR-T29  ${action}, ${point}: ${rounds} rounds, ${broken.length} violations`)
    for (const text of broken.slice(0, 3)) console.log(`    ${text}`)
  }
}
console.log(`violations: ${violations}`)
process.exitCode = violations === 0 ? 0 : 1
