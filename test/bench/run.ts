/**
 * `npm run bench [name…]`: runs the benchmarks one after another, each against its baseline in the same run, and ends with
 * 1 when a target is missed. A run of all of them is written to docs/.
 */
import { join } from 'node:path'
import { classify } from './classify.ts'
import { eventAppend } from './events.ts'
import { gatewayFirstByte } from './gateway.ts'
import { hostIdle, hostStart, warmPrompt } from './host.ts'
import { lineOf, thisMachine, writeReport } from './report.ts'
import type { Result } from './report.ts'
import { router } from './rivals.ts'
import { routerFirstByte } from './router.ts'
import { isMet } from './types.ts'
import type { Benchmark } from './types.ts'

const BENCHMARKS: readonly Benchmark[] = [
  hostStart,
  routerFirstByte,
  gatewayFirstByte,
  router,
  eventAppend,
  hostIdle,
  warmPrompt,
  classify,
]

const names = process.argv.slice(2)
const unknown = names.filter((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name))
if (unknown.length > 0) {
  console.error(
    `There is no benchmark ${unknown.join(', ')}. There are: ${BENCHMARKS.map(({ name }) => name).join(', ')}.`,
  )
  process.exit(2)
}

const machine = thisMachine()
const results: Result[] = []
for (const benchmark of BENCHMARKS) {
  const { name, how } = benchmark
  if (names.length > 0 && !names.includes(name)) continue
  console.log(`${name}: ${how}`)
  const figures = await benchmark.run()
  for (const figure of figures) console.log(lineOf(figure))
  results.push({ benchmark: { name, how }, figures })
}

if (names.length === 0) {
  const date = new Date().toISOString().slice(0, 10)
  writeReport(join(import.meta.dirname, '../../docs'), { date, machine, results })
}
process.exitCode = results.some(({ figures }) => !figures.every(isMet)) ? 1 : 0
