/**
 * `npm run bench [-- --write] [name or group…]`: runs the benchmarks one after another, each against its baseline in the same
 * run, and ends with 1 when a target is missed. With `--write` their figures take the place of the earlier ones in docs/.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { admission } from './admission.ts'
import { agentStreams } from './agent-streams.ts'
import { classify } from './classify.ts'
import { eventAppend } from './events.ts'
import { gatewayFirstByte } from './gateway.ts'
import { hostIdle, hostQuiet, hostStart, warmPrompt } from './host.ts'
import { idleSessions } from './idle-sessions.ts'
import { largeDatabase } from './large-database.ts'
import { reading } from './reading.ts'
import { lineOf, loadNow, thisMachine, writeReport } from './report.ts'
import type { Result } from './report.ts'
import { router } from './rivals.ts'
import { routerFirstByte } from './router.ts'
import { routerStreams, routerThroughput } from './router-streams.ts'
import { routes } from './routes.ts'
import { streams } from './streams.ts'
import { workerLife, workersAtOnce, workerStream } from './workers.ts'
import { isMet } from './types.ts'
import type { Benchmark } from './types.ts'

const BENCHMARKS: readonly Benchmark[] = [
  hostStart,
  routerFirstByte,
  gatewayFirstByte,
  router,
  routerThroughput,
  routerStreams,
  routes,
  eventAppend,
  admission,
  reading,
  idleSessions,
  streams,
  largeDatabase,
  hostIdle,
  hostQuiet,
  warmPrompt,
  classify,
  agentStreams,
  workerStream,
  workerLife,
  workersAtOnce,
]

const { values, positionals: names } = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean' } } })
const isAskedFor = ({ name, group }: Benchmark): boolean =>
  names.includes(name) || (group !== undefined && names.includes(group))
const unknown = names.filter(
  (name) => !BENCHMARKS.some((benchmark) => benchmark.name === name || benchmark.group === name),
)
if (unknown.length > 0) {
  console.error(
    `There is no benchmark ${unknown.join(', ')}. There are: ${BENCHMARKS.map(({ name }) => name).join(', ')}.`,
  )
  process.exit(2)
}

const results: Result[] = []
for (const benchmark of BENCHMARKS) {
  const { name, how } = benchmark
  if (names.length > 0 && !isAskedFor(benchmark)) continue
  console.log(`${name}: ${how}`)
  const load = loadNow()
  const figures = await benchmark.run()
  for (const figure of figures) console.log(lineOf(figure))
  results.push({ name, how, date: new Date().toISOString().slice(0, 10), load, figures })
}

if (values.write === true) {
  const order = BENCHMARKS.map(({ name }) => name)
  writeReport(join(import.meta.dirname, '../../docs'), { machine: thisMachine(), results }, order)
}
process.exitCode = results.some(({ figures }) => !figures.every(isMet)) ? 1 : 0
