/** Joins the host that holds a data folder, and prints what became of it. */
import { lockOrJoin } from '../../../src/main/cli/bridge.ts'
import { listenForInterrupts } from '../../../src/main/cli/interrupt.ts'
import { createHostControl } from '../../../src/main/platform/index.ts'
import { AppError } from '../../../src/shared/errors.ts'

const [, , dataDir = ''] = process.argv
console.log('trying')
try {
  const { kind } = await lockOrJoin(createHostControl(), { dataDir, interrupts: listenForInterrupts() })
  console.log(kind)
} catch (error) {
  console.log(error instanceof AppError ? error.code : error)
}
process.exit(0)
