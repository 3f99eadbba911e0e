/**
 * `npm run test:soak [runtime] [-- --minutes 10 --seed N]`: a host, ten sessions, three clients, for ten minutes.
 * `npm run test:soak workers [-- --rounds 1000]`: workers started and ended. The last line is `violations: N`; exit code 0
 * only at 0.
 */
import { parseArgs } from 'node:util'
import { ensureBuilt } from '../main/host/support/built.ts'
import { soak } from './soak.ts'
import { workersSoak } from './workers.ts'

const { values, positionals } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    rounds: { type: 'string', default: '1000' },
  },
  allowPositionals: true,
})
if (positionals.some((name) => name !== 'runtime' && name !== 'workers')) {
  console.error(`There is no soak ${positionals.join(', ')}. There are: runtime, workers.`)
  process.exit(2)
}
if (positionals.includes('workers')) {
  const soak = workersSoak(Number(values.rounds))
  console.log(`workers: ${soak.how}`)
  await soak.run((progress) => console.log(`  ${progress}`))
  console.log('violations: 0')
  process.exit(0)
}
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const seconds = Number(values.minutes) * 60
console.log(`runtime: 10 sessions, 3 clients, ${seconds} s, seed ${seed}`)
const putAway = await ensureBuilt()
try {
  const outcome = await soak({ sessions: 10, clients: 3, seconds, seed, progress: (text) => console.log(`  ${text}`) })
  console.log(
    `${outcome.calls} calls, ${outcome.runs} runs, ${outcome.events} events; refused: ${JSON.stringify(outcome.refusals)}`,
  )
  for (const text of outcome.violations.slice(0, 20)) console.log(`  ${text}`)
  console.log(`violations: ${outcome.violations.length}`)
  process.exitCode = outcome.violations.length === 0 ? 0 : 1
} finally {
  putAway()
}
