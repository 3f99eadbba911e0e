/** `npm run test:fuzz [minutes]`: runs every property with fresh seeds, one after another, for ten minutes in all. */
import fc from 'fast-check'
import { ROUTER_PROPERTIES } from './router-properties.ts'
import { TAKEOVER_PROPERTIES } from './takeover-properties.ts'

const PROPERTIES = [...ROUTER_PROPERTIES, ...TAKEOVER_PROPERTIES]
const minutes = Number(process.argv[2] ?? '10')
if (!(minutes > 0)) {
  console.error('Give the minutes as a number above 0.')
  process.exit(2)
}

let failed = 0
for (const { name, property } of PROPERTIES) {
  const details = await fc.check(property, {
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: (minutes * 60_000) / PROPERTIES.length,
    markInterruptAsFailure: false,
  })
  console.log(`${details.failed ? 'FAILED' : 'ok    '} ${details.numRuns} runs  ${name}`)
  if (!details.failed) continue
  failed++
  console.log(`  seed ${details.seed}, path ${details.counterexamplePath ?? ''}`)
  console.log(`  counterexample ${fc.stringify(details.counterexample)}`)
}
process.exitCode = failed === 0 ? 0 : 1
