import { runCli } from './cli/index.ts'
import { dropEmptyHome } from './platform/index.ts'

let isLost = false
// A reader that has seen enough (EPIPE) is no failure; a full disk is.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return
  isLost = true
  process.exitCode = 1
  process.stderr.write(`wheelhouse: The output could not be written (${error.code ?? error.message}).\n`)
})
dropEmptyHome()
const code = await runCli(process.argv.slice(2), import.meta.dirname)
process.exitCode = isLost ? 1 : code
